import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { plainClient } from './bolt-app.ts';

let slack: LocalSlack;
let now = 1_700_000_000_000;

beforeEach(async () => {
  slack = await startLocalSlack({ now: () => now, rates: { postBurst: 3 } });
});
afterEach(() => slack.stop());

const retryAfter = (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => 0,
    (error) => error.retryAfter ?? -1,
  );
const post = (channel = 'C0SHOP') => retryAfter(plainClient(slack).chat.postMessage({ channel, text: 'x' }));

it('posts: a short burst, then one a second, for each channel by itself', async () => {
  const burst = [await post(), await post(), await post()];
  expect(burst).toEqual([0, 0, 0]);
  expect(await post()).toBe(1);
  expect(await post('C0OPS')).toBe(0);
  now += 1_000;
  expect([await post(), await post()]).toEqual([0, 1]);
  expect(slack.messages('C0SHOP')).toHaveLength(4);
});

it.each([
  ['usergroups.list', 20],
  ['conversations.info', 50],
  ['users.info', 100],
])('%s: %i calls in any minute, then 429 with the seconds to wait', async (method, perMinute) => {
  const call = () => retryAfter(plainClient(slack).apiCall(method, { channel: 'C0SHOP', user: 'U0ROY' }));
  for (let done = 0; done < perMinute; done += 1) expect(await call()).toBe(0);
  now += 20_000;
  expect(await call()).toBe(40);
  expect(await retryAfter(plainClient(slack).auth.test())).toBe(0);
  now += 40_000;
  expect(await call()).toBe(0);
});

it('a message with files is a post of its channel', async () => {
  const upload = async () => {
    const { upload_url: url = '', file_id: id = '' } = await plainClient(slack).files.getUploadURLExternal({
      filename: 'a',
      length: 1,
    });
    await fetch(url, { method: 'POST', body: 'a' });
    return (channel?: string) =>
      retryAfter(plainClient(slack).apiCall('files.completeUploadExternal', { files: [{ id }], channel_id: channel }));
  };
  expect([await post(), await post(), await post()]).toEqual([0, 0, 0]);
  const complete = await upload();
  expect(await complete('C0SHOP')).toBe(1);
  now += 1_000;
  expect(await complete('C0SHOP')).toBe(0);
  expect(await post()).toBe(1);
  expect(await (await upload())()).toBe(0);
});

it('posts of all channels together have a limit of their own', async () => {
  const wide = await startLocalSlack({ now: () => now, rates: { postsPerMinute: 2 } });
  const one = (channel: string) => retryAfter(plainClient(wide).chat.postMessage({ channel, text: 'x' }));
  expect([await one('C0SHOP'), await one('C0OPS'), await one('C0SECRET')]).toEqual([0, 0, 60]);
  await wide.stop();
});
