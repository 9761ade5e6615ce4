import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mentionsIn, wouldUnfurl } from '../../../play/slack/index.ts';
import { createSlack } from '../../../src/adapters/slack/index.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import type { FileToShare } from '../../../src/flow/ports/files.ts';
import { fastClock, realClock, saying, startWorld, type World } from './harness.ts';
import { HOSTILE } from './views/messages.ts';

const SHOP = { channelId: 'C0SHOP' };
const anchor = { run: 'abcdefgh23', kind: 'anchor', seq: 1 } as const;
const result = { run: 'abcdefgh23', kind: 'result', seq: 1 } as const;

let world: World;
let begunMs: number;
beforeEach(async () => {
  const clock = fastClock(6);
  world = await startWorld('http', { clock });
  begunMs = clock.now();
});
afterEach(async () => {
  await world.stop();
  expect(world.local.unknown).toEqual([]);
});

const shopMessages = () => world.local.messages('C0SHOP');

describe('posting', () => {
  it('posts with metadata, and updates that very message', async () => {
    const { thread } = world.slack;
    const ref = await thread.post(SHOP, saying('received'), anchor);
    await thread.update(ref, saying('running'), { ...anchor, seq: 2 }, 'progress');
    expect(shopMessages()).toHaveLength(1);
    expect(shopMessages()[0]).toMatchObject({
      ts: ref.ts,
      text: 'running',
      revisions: 1,
      metadata: { event_type: 'kdebug_run', event_payload: { run: 'abcdefgh23', kind: 'anchor', seq: 2 } },
    });
  });

  it('what nobody waits for goes behind a card that was asked for later', async () => {
    const { thread } = world.slack;
    const aside = { run: 'bbcdefgh23', kind: 'anchor', seq: 1, isAside: true } as const;
    const storm = Array.from({ length: 40 }, (_, at) => thread.post(SHOP, saying(`alert ${at}`), aside));
    await Promise.all([...storm, thread.post(SHOP, saying('asked for'), anchor)]);
    const texts = shopMessages().map(({ text }) => text);
    expect(texts).toHaveLength(41);
    expect(texts.indexOf('asked for')).toBeLessThan(30);
    expect(JSON.stringify(shopMessages())).not.toContain('isAside');
  });

  it('replies in a thread', async () => {
    const root = await world.slack.thread.post(SHOP, saying('root'), anchor);
    const reply = await world.slack.thread.post({ ...SHOP, threadTs: root.ts }, saying('result'), result);
    expect(world.local.thread('C0SHOP', root.ts).map(({ ts }) => ts)).toEqual([reply.ts]);
  });

  it('says when Slack put a reply into the channel, because its thread is gone', async () => {
    const { thread } = world.slack;
    const root = await thread.post(SHOP, saying('root'), anchor);
    expect(root).not.toHaveProperty('threadGone');
    const at = { ...SHOP, threadTs: root.ts };
    world.local.state.remove(world.local.message('C0SHOP', root.ts)!);
    const reply = await thread.post(at, saying('result'), result);
    expect(reply).toEqual({ ...SHOP, ts: expect.any(String), threadGone: root.ts });
    expect(shopMessages().map(({ ts }) => ts)).toEqual([reply.ts]);
    expect(await thread.find(at, result, begunMs)).toEqual(reply);
    expect(await thread.find(SHOP, result, begunMs)).toEqual({ ...SHOP, ts: reply.ts });
  });

  it('says that a thread is there whose root has replies, deleted or not', async () => {
    const { thread } = world.slack;
    const root = await thread.post(SHOP, saying('root'), anchor);
    const at = { ...SHOP, threadTs: root.ts };
    expect(await thread.post(at, saying('first'), result)).not.toHaveProperty('threadGone');
    world.local.state.remove(world.local.message('C0SHOP', root.ts)!);
    expect(await thread.post(at, saying('second'), result)).not.toHaveProperty('threadGone');
  });

  it('lets no hostile text mention, link or unfurl', async () => {
    for (const [index, text] of HOSTILE.entries()) {
      const parts: Message['parts'] = [
        { kind: 'heading', text },
        {
          kind: 'paragraph',
          spans: [
            { kind: 'text', text },
            { kind: 'code', text },
          ],
        },
        { kind: 'preformatted', text },
        { kind: 'note', spans: [{ kind: 'text', text }] },
      ];
      const ref = await world.slack.thread.post(
        { channelId: index % 2 ? 'C0SHOP' : 'C0OPS' },
        { summary: text, tone: 'failure', parts },
        anchor,
      );
      await world.slack.thread.update(ref, { summary: text, tone: 'failure', parts }, anchor, 'final');
      const posted = world.local.message(ref.channelId, ref.ts)!;
      expect(posted.revisions).toBe(1);
      expect(mentionsIn(posted).filter(({ kind }) => kind !== 'code' && kind !== 'preformatted')).toEqual([]);
      expect(wouldUnfurl(posted)).toEqual({ links: false, media: false });
    }
  });

  it.each(['msg_too_long', 'msg_blocks_too_long', 'invalid_blocks'])(
    'delivers something simpler after %s, once',
    async (kind) => {
      world.local.faults.queue({ method: 'chat.postMessage', kind, times: 2 });
      world.local.faults.queue({ method: 'chat.update', kind, times: 3 });
      const log = { ...saying('it ran'), parts: [{ kind: 'preformatted' as const, text: 'line\n'.repeat(400) }] };
      const ref = await world.slack.thread.post(SHOP, log, result);
      expect(shopMessages().map(({ blocks }) => blocks.map(({ type }) => type))).toEqual([['rich_text']]);
      await world.slack.thread.update(ref, log, result, 'final');
      expect(shopMessages()[0]).toMatchObject({ text: 'it ran', blocks: [] });
    },
  );

  it('an update that Slack takes in a simpler shape only keeps to rich text, and so its buttons', async () => {
    const parts: Message['parts'] = [
      { kind: 'paragraph', spans: [{ kind: 'text', text: 'a card' }] },
      { kind: 'actions', buttons: [{ action: 'pause', label: 'Stop', value: 'r' }] },
    ];
    const ref = await world.slack.thread.post(SHOP, { ...saying('a card'), parts }, anchor);
    world.local.faults.queue({ method: 'chat.update', kind: 'invalid_blocks', times: 2 });
    await world.slack.thread.update(ref, { ...saying('it goes on'), parts }, anchor, 'final');
    expect(shopMessages()[0]?.blocks.map(({ type }) => type)).toEqual(['rich_text', 'actions']);
    expect(world.local.requests('chat.update').filter(({ ok }) => !ok)).toHaveLength(2);
  });

  it.each([
    ['C0NOWHERE', 'slack_channel_closed'],
    ['C0OLD', 'slack_channel_closed'],
    ['C0DARK', 'slack_channel_closed'],
  ])('to %s is %s', async (channelId, code) => {
    await expect(world.slack.thread.post({ channelId }, saying('x'), anchor)).rejects.toMatchObject({ code });
  });

  it('an update that Slack refused under way never replaces a newer one that waits', async () => {
    const ref = await world.slack.thread.post(SHOP, saying('received'), anchor);
    world.local.faults.queue({ method: 'chat.update', kind: 'invalid_blocks' });
    const older = world.slack.thread.update(ref, saying('running'), { ...anchor, seq: 2 }, 'progress');
    await new Promise(setImmediate);
    const newer = world.slack.thread.update(ref, saying('finished'), { ...anchor, seq: 3 }, 'final');
    await Promise.all([older, newer]);
    expect(world.local.requests('chat.update').map(({ ok }) => ok)).toEqual([false, true]);
    expect(shopMessages()[0]).toMatchObject({ text: 'finished', metadata: { event_payload: { seq: 3 } } });
  });

  it('an update of a deleted message says so', async () => {
    const gone = { channelId: 'C0SHOP', ts: '1700000000.000100' };
    await expect(world.slack.thread.update(gone, saying('x'), anchor, 'final')).rejects.toMatchObject({
      code: 'slack_message_gone',
    });
  });

  it('a burst that is longer than Slack takes loses nothing and says nothing twice', async () => {
    await Promise.all(
      Array.from({ length: 6 }, (_, seq) => world.slack.thread.post(SHOP, saying(`${seq}`), { ...anchor, seq })),
    );
    expect(shopMessages()).toHaveLength(6);
    const refused = world.local.requests('chat.postMessage').filter(({ ok }) => !ok);
    expect(refused.length).toBeLessThanOrEqual(1);
  });
});

describe('an unclear answer', () => {
  it.each(['reset_after_commit', 'truncated_json'])(
    'to a post (%s) is slack_unanswered, and looking finds the one post',
    async (kind) => {
      world.local.faults.queue({ method: 'chat.postMessage', kind });
      await expect(world.slack.thread.post(SHOP, saying('x'), anchor)).rejects.toMatchObject({
        code: 'slack_unanswered',
      });
      const found = await world.slack.thread.find(SHOP, anchor, begunMs);
      expect(found).toEqual({ channelId: 'C0SHOP', ts: shopMessages()[0]?.ts });
      expect(shopMessages()).toHaveLength(1);
    },
  );

  it.each(['reset_before', 'http_500', 'http_503'])(
    'to a post (%s) is slack_unanswered, and looking finds nothing',
    async (kind) => {
      world.local.faults.queue({ method: 'chat.postMessage', kind });
      await expect(world.slack.thread.post(SHOP, saying('x'), anchor)).rejects.toMatchObject({
        code: 'slack_unanswered',
      });
      expect(await world.slack.thread.find(SHOP, anchor, begunMs)).toBeUndefined();
      expect(world.local.requestCounts.get('chat.postMessage')).toBe(1);
    },
  );

  it.each(['reset_after_commit', 'http_500', 'truncated_json', 'ratelimited'])(
    'to an update (%s) does not keep it from arriving',
    async (kind) => {
      const ref = await world.slack.thread.post(SHOP, saying('x'), anchor);
      world.local.faults.queue({ method: 'chat.update', kind });
      await world.slack.thread.update(ref, saying('finished'), anchor, 'final');
      expect(shopMessages()[0]?.text).toBe('finished');
    },
  );
});

describe('looking for a post', () => {
  it('tells a result from an anchor, in the thread', async () => {
    const { thread } = world.slack;
    const root = await thread.post(SHOP, saying('root'), anchor);
    const place = { ...SHOP, threadTs: root.ts };
    expect(await thread.find(place, result, begunMs)).toBeUndefined();
    const reply = await thread.post(place, saying('result'), result);
    expect(await thread.find(place, result, begunMs)).toEqual(reply);
    expect(await thread.find(SHOP, { ...anchor, run: 'zzzzzzzz23' }, begunMs)).toBeUndefined();
  });

  it('never finds the post of another app with our metadata', async () => {
    const { ts } = world.local.deliver.say({ user: 'U0ROBOT', channel: 'C0SHOP', text: 'forged' });
    world.local.message('C0SHOP', ts)!.metadata = {
      event_type: 'kdebug_run',
      event_payload: { run: anchor.run, kind: 'anchor', seq: 1 },
    };
    expect(await world.slack.thread.find(SHOP, anchor, begunMs)).toBeUndefined();
  });

  it('finds it by its words where Slack keeps its metadata from us', async () => {
    const note = { kind: 'note' as const, spans: [{ kind: 'text' as const, text: `Run ${result.run}` }] };
    const ref = await world.slack.thread.post(SHOP, { ...saying('result'), parts: [note] }, result);
    delete world.local.message('C0SHOP', ref.ts)!.metadata;
    expect(await world.slack.thread.find(SHOP, result, begunMs)).toEqual(ref);
    expect(await world.slack.thread.find(SHOP, anchor, begunMs)).toBeUndefined();
  });

  it.each(['missing_scope', 'channel_not_found', 'not_in_channel', 'access_denied'])(
    'finds nothing when Slack does not let us look (%s), and does not ask again: a double post is better than none',
    async (kind) => {
      const root = await world.slack.thread.post(SHOP, saying('root'), anchor);
      world.local.faults.queue({ method: 'conversations.history', kind });
      world.local.faults.queue({ method: 'conversations.replies', kind });
      expect(await world.slack.thread.find(SHOP, anchor, begunMs)).toBeUndefined();
      expect(await world.slack.thread.findShared({ ...SHOP, threadTs: root.ts }, ['a.log'], begunMs)).toBeUndefined();
      expect(world.local.faults.hits).toBe(2);
      expect(world.log.records.filter(({ message }) => message.includes('refused to search'))).toHaveLength(2);
    },
  );

  it('reads on through pages', async () => {
    const mine = await world.slack.thread.post(SHOP, saying('mine'), anchor);
    for (let count = 0; count < 450; count += 1)
      world.local.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: `${count}` });
    expect(await world.slack.thread.find(SHOP, anchor, begunMs)).toEqual(mine);
    expect(world.local.requestCounts.get('conversations.history')).toBe(3);
  });
});

describe('a file', () => {
  const bytes = Buffer.from('a line of log\n'.repeat(20_000));
  const fileOf = (content: Buffer, opened: { count: number } = { count: 0 }): FileToShare => ({
    filename: 'abcdefgh23.log',
    title: 'Log of pod-1234',
    bytes: content.length,
    async *open() {
      opened.count += 1;
      for (let at = 0; at < content.length; at += 65_536) yield content.subarray(at, at + 65_536);
    },
  });
  const shares = () => {
    world.local.state.background.flush();
    return world.local.files().flatMap((file) => file.shares);
  };

  it('arrives whole in its thread', async () => {
    const root = await world.slack.thread.post(SHOP, saying('root'), anchor);
    const place = { ...SHOP, threadTs: root.ts };
    const { ref, files } = await world.slack.thread.share(place, () => saying('the result'), [fileOf(bytes)]);
    const id = files['abcdefgh23.log'];
    const [file] = world.local.files();
    expect(file).toMatchObject({ id, name: 'abcdefgh23.log', title: 'Log of pod-1234', size: bytes.length });
    expect(
      createHash('sha256')
        .update(await file!.content())
        .digest('hex'),
    ).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(shares()).toMatchObject([{ channel: 'C0SHOP', threadTs: root.ts, ts: ref.ts }]);
    expect(world.local.message('C0SHOP', ref.ts)?.text).toBe('the result');
  });

  it('and its words are one message, with as many as ten files, which is found by their names', async () => {
    const place = { ...SHOP, threadTs: (await world.slack.thread.post(SHOP, saying('root'), anchor)).ts };
    const files = Array.from({ length: 10 }, (_, n) => ({ ...fileOf(Buffer.from(`file ${n}`)), filename: `${n}.log` }));
    const shared = await world.slack.thread.share(place, () => saying('all of it'), files);
    expect(world.local.thread('C0SHOP', place.threadTs)).toHaveLength(1);
    expect(world.local.message('C0SHOP', shared.ref.ts)?.files).toEqual(Object.values(shared.files));
    expect(await world.slack.thread.findShared(place, ['3.log', '0.log'], begunMs)).toEqual({
      ref: shared.ref,
      files: { '0.log': shared.files['0.log'], '3.log': shared.files['3.log'] },
      refused: {},
    });
    // Slack may have refused the other one.
    expect(await world.slack.thread.findShared(place, ['3.log', 'other.log'], begunMs)).toEqual({
      ref: shared.ref,
      files: { '3.log': shared.files['3.log'] },
      refused: {},
    });
    expect(await world.slack.thread.findShared(place, ['other.log'], begunMs)).toBeUndefined();
  });

  it('in a direct message is known where it stands as well', async () => {
    const place = await world.slack.thread.openDirect('U0ROY');
    const { ref } = await world.slack.thread.share(place, () => saying('yours alone'), [fileOf(bytes)]);
    expect(world.local.message(place.channelId, ref.ts)?.text).toBe('yours alone');
  });

  it.each([
    ['abcdefgh23.log', 1_000_000, 'text'],
    ['abcdefgh23.log', 1_000_001, undefined],
    ['table.csv', 10, undefined],
  ])('%s of %i bytes is sent so that phones show it, where Slack can: %s', async (filename, size, type) => {
    await world.slack.thread.share(SHOP, () => saying('x'), [{ ...fileOf(Buffer.alloc(size, 'x')), filename }]);
    expect(world.local.requests('files.getUploadURLExternal')[0]?.args.snippet_type).toBe(type);
  });

  it.each(['invalid_blocks', 'msg_blocks_too_long'])(
    'goes with simpler words when Slack refuses the shape of the message (%s)',
    async (error) => {
      world.local.faults.queue({ method: 'files.completeUploadExternal', kind: error, times: 4 });
      const { ref } = await world.slack.thread.share(SHOP, () => saying('plain words'), [fileOf(bytes)]);
      expect(world.local.message('C0SHOP', ref.ts)).toMatchObject({ text: 'plain words', blocks: [] });
    },
  );

  it('that a locked thread does not take can still go to its channel', async () => {
    const { thread } = world.slack;
    const root = await thread.post(SHOP, saying('root'), anchor);
    world.local.message('C0SHOP', root.ts)!.locked = true;
    const inThread = thread.share({ ...SHOP, threadTs: root.ts }, () => saying('words'), [fileOf(bytes)]);
    await expect(inThread).rejects.toMatchObject({ code: 'slack_thread_closed' });
    world.local.team.channels.C0SHOP!.posting = 'nobody';
    await expect(thread.share(SHOP, () => saying('words'), [fileOf(bytes)])).rejects.toMatchObject({
      code: 'slack_channel_closed',
    });
  });

  it('that Slack says it has shared, and shows nowhere, counts as unanswered', async () => {
    const drops = await startWorld('http', { clock: fastClock(200), shareDelayMs: 600_000 });
    await expect(drops.slack.thread.share(SHOP, () => saying('words'), [fileOf(bytes)])).rejects.toMatchObject({
      code: 'slack_unanswered',
      facts: { kind: 'not_shown' },
    });
    expect(drops.local.requests('files.completeUploadExternal')).toMatchObject([{ ok: true }]);
    await drops.stop();
  });

  it.each([undefined, 'Flame graph of CPU time'])('is described for people who do not see it: %s', async (altText) => {
    const file = { ...fileOf(bytes), ...(altText === undefined ? {} : { altText }) };
    await world.slack.thread.share(SHOP, () => saying('words'), [file]);
    expect(world.local.requests('files.getUploadURLExternal')[0]?.args.alt_txt).toBe(altText);
  });

  it.each(['missing_scope', 'access_denied'])(
    'is looked for in its thread when its own record cannot be read (%s)',
    async (kind) => {
      const root = await world.slack.thread.post(SHOP, saying('root'), anchor);
      world.local.faults.queue({ method: 'files.info', kind });
      const place = { ...SHOP, threadTs: root.ts };
      const { ref } = await world.slack.thread.share(place, () => saying('words'), [fileOf(bytes)]);
      expect(world.local.message('C0SHOP', ref.ts)).toMatchObject({ threadTs: root.ts, files: [expect.any(String)] });
      expect(world.local.requests('conversations.replies')).toHaveLength(1);
    },
  );

  it('is looked for in the channel when its thread is gone', async () => {
    world.local.habits.fileShares = 'unrecorded';
    const root = await world.slack.thread.post(SHOP, saying('root'), anchor);
    world.local.state.remove(world.local.message('C0SHOP', root.ts)!);
    const place = { ...SHOP, threadTs: root.ts };
    const shared = await world.slack.thread.share(place, () => saying('words'), [fileOf(bytes)]);
    expect(shopMessages().map(({ ts }) => ts)).toEqual([shared.ref.ts]);
    expect(shared).toMatchObject({ ref: { ...SHOP }, threadGone: root.ts });
    expect(shared.ref).not.toHaveProperty('threadGone');
    expect(await world.slack.thread.findShared(place, ['abcdefgh23.log'], begunMs)).toEqual(shared);
  });

  it('that is not ours to share (access_denied) is refused, and the channel is not taken for a closed one', async () => {
    world.local.faults.queue({ method: 'files.completeUploadExternal', kind: 'access_denied' });
    const sharing = world.slack.thread.share(SHOP, () => saying('words'), [fileOf(bytes)]);
    await expect(sharing).rejects.toMatchObject({ code: 'slack_refused', facts: { error: 'access_denied' } });
  });

  it.each([
    ['files.getUploadURLExternal', 'http_500'],
    ['upload', 'reset_before'],
    ['upload', 'http_500'],
    ['files.completeUploadExternal', 'reset_before'],
    ['files.completeUploadExternal', 'reset_after_commit'],
    ['files.completeUploadExternal', 'truncated_json'],
    ['files.completeUploadExternal', 'ratelimited'],
    ['files.info', 'http_500'],
    ['files.info', 'reset_before'],
  ])('is shared exactly once when %s has %s', async (method, kind) => {
    const root = await world.slack.thread.post(SHOP, saying('root'), anchor);
    world.local.faults.queue({ method, kind });
    const place = { ...SHOP, threadTs: root.ts };
    const { files } = await world.slack.thread.share(place, () => saying('words'), [fileOf(bytes)]);
    expect(world.local.faults.hits).toBe(1);
    expect(shares()).toHaveLength(1);
    expect(world.local.files()[0]?.id).toBe(files['abcdefgh23.log']);
  });

  it('is opened again for each try, and given up after three', async () => {
    const opened = { count: 0 };
    world.local.faults.queue({ method: 'upload', kind: 'http_500', times: 3 });
    await expect(world.slack.thread.share(SHOP, () => saying('x'), [fileOf(bytes, opened)])).rejects.toMatchObject({
      code: 'slack_unanswered',
    });
    expect(opened.count).toBe(3);
    expect(shares()).toEqual([]);
  });

  it('that Slack refuses is left out, and the message that goes with the others says so', async () => {
    world.local.faults.queue({ method: 'files.getUploadURLExternal', kind: 'invalid_arguments' });
    const named = ['a.txt', 'b.svg'].map((filename) => ({ ...fileOf(bytes), filename }));
    const say = (refused: Readonly<Record<string, string>>) => saying(`without ${Object.keys(refused).join()}`);
    const shared = await world.slack.thread.share(SHOP, say, named);
    expect(shared).toMatchObject({ files: { 'b.svg': expect.any(String) }, refused: { 'a.txt': 'slack_refused' } });
    expect(Object.keys(shared.files)).toEqual(['b.svg']);
    expect(world.local.message('C0SHOP', shared.ref.ts)?.text).toBe('without a.txt');
  });

  it('of a kind that the workspace forbids takes no plain text with it', async () => {
    world.local.faults.queue({ method: 'files.completeUploadExternal', kind: 'file_type_not_allowed' });
    const named = ['a.log', 'b.svg', 'c.txt'].map((filename) => ({ ...fileOf(bytes), filename }));
    const say = (refused: Readonly<Record<string, string>>) => saying(`without ${Object.keys(refused).join()}`);
    const shared = await world.slack.thread.share(SHOP, say, named);
    expect([Object.keys(shared.files), shared.refused]).toEqual([['a.log', 'c.txt'], { 'b.svg': 'slack_refused' }]);
    expect(world.local.message('C0SHOP', shared.ref.ts)?.files).toHaveLength(2);
    expect(world.local.message('C0SHOP', shared.ref.ts)?.text).toBe('without b.svg');
  });

  it('of no bytes is never sent', async () => {
    await expect(world.slack.thread.share(SHOP, () => saying('x'), [fileOf(Buffer.alloc(0))])).rejects.toMatchObject({
      code: 'slack_refused',
    });
    expect(world.local.requests('files.getUploadURLExternal')).toEqual([]);
  });

  it('that a source fails to deliver is not shared', async () => {
    const broken: FileToShare = {
      ...fileOf(bytes),
      async *open() {
        yield bytes.subarray(0, 10);
        throw new Error('the spool is gone');
      },
    };
    await expect(world.slack.thread.share(SHOP, () => saying('x'), [broken])).rejects.toMatchObject({
      code: 'slack_unanswered',
    });
    expect(shares()).toEqual([]);
  });
});

describe('telling one person', () => {
  const roy = { channelId: 'C0SHOP', userId: 'U0ROY' };
  const told = () => world.local.ephemerals('U0ROY').map(({ text }) => text);
  const responseUrl = async (): Promise<string> => {
    await world.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'x' });
    return world.inbox.commands.at(-1)?.origin.responseUrl ?? '';
  };

  it('uses the response_url, and chat.postEphemeral once that is used up', async () => {
    const url = await responseUrl();
    for (let count = 1; count <= 6; count += 1)
      await world.slack.thread.tell({ ...roy, responseUrl: url }, saying(`${count}`));
    expect(told()).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(world.local.requestCounts.get('chat.postEphemeral')).toBe(1);
  });

  describe('in a thread', () => {
    const threadOf = (replies: number): string => {
      const { ts } = world.local.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'root' });
      for (let count = 0; count < replies; count += 1)
        world.local.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'reply', threadTs: ts });
      return ts;
    };
    // A busy machine may answer the command that gives a response_url too late: that answer is not what is looked at.
    const said = () => world.local.ephemerals('U0ROY').filter(({ text }) => !text.includes('in time'));
    const where = () => said().map(({ threadTs, text }) => ({ threadTs, text }));

    it('that has replies, says it there; a response_url would say it outside', async () => {
      const threadTs = threadOf(1);
      await world.slack.thread.tell({ ...roy, threadTs, responseUrl: await responseUrl() }, saying('there'));
      expect(where()).toEqual([{ threadTs, text: 'there' }]);
    });

    it('that has none, says it in the channel: Slack would show it to nobody', async () => {
      const threadTs = threadOf(0);
      await world.slack.thread.tell({ ...roy, threadTs }, saying('here'));
      expect(where()).toEqual([{ threadTs: undefined, text: 'here' }]);
    });

    it('that cannot be looked at, says it in the channel', async () => {
      world.local.faults.queue({ method: 'conversations.replies', kind: 'missing_scope' });
      await world.slack.thread.tell({ ...roy, threadTs: threadOf(1) }, saying('here'));
      expect(where()).toEqual([{ threadTs: undefined, text: 'here' }]);
    });

    it('where the person stands for certain, asks nothing first', async () => {
      const threadTs = threadOf(1);
      await world.slack.thread.tell({ ...roy, threadTs, isReply: true }, saying('there'));
      expect(where()).toEqual([{ threadTs, text: 'there' }]);
      expect(world.local.requests('conversations.replies')).toEqual([]);
    });

    it('that was deleted meanwhile, says it in the channel', async () => {
      await world.slack.thread.tell({ ...roy, threadTs: '1700000000.000100', isReply: true }, saying('here'));
      expect(where()).toEqual([{ threadTs: undefined, text: 'here' }]);
    });

    it('whose answer was lost, says it once more by the response_url, else not at all', async () => {
      const threadTs = threadOf(1);
      const url = await responseUrl();
      world.local.faults.queue({ method: 'chat.postEphemeral', kind: 'reset_before', times: 2 });
      await world.slack.thread.tell({ ...roy, threadTs, isReply: true, responseUrl: url }, saying('here'));
      expect(where()).toEqual([{ threadTs: undefined, text: 'here' }]);
      await expect(world.slack.thread.tell({ ...roy, threadTs, isReply: true }, saying('lost'))).rejects.toMatchObject({
        code: 'slack_unanswered',
      });
    });
  });

  it('never calls a response_url outside Slack', async () => {
    for (const url of [
      'https://slack.com.evil.example/x',
      'http://hooks.slack.com/x',
      'https://user:pw@hooks.slack.com/x',
      'file:///etc/passwd',
      'x',
    ]) {
      await world.slack.thread.tell({ ...roy, responseUrl: url }, saying('x'));
    }
    expect(told()).toHaveLength(5);
    expect(world.local.requestCounts.get('chat.postEphemeral')).toBe(5);
    expect(JSON.stringify(world.log.records)).not.toContain('evil');
  });

  it('never follows a redirect', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/hooks/x') response.writeHead(307, { location: '/stolen' });
      else response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"ok":true}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const transport = { kind: 'http', signingSecret: 's', port: 0 } as const;
    const slack = createSlack({
      botToken: 'xoxb-1',
      transport,
      apiUrl: `${origin}/api/`,
      log: world.log,
      clock: realClock,
    });
    await slack.thread.tell({ ...roy, responseUrl: `${origin}/hooks/x` }, saying('secret'));
    expect(asked).toEqual(['/hooks/x', '/api/chat.postEphemeral']);
    server.closeAllConnections();
    server.close();
  });

  it('asks whether it is still to be said only when its turn has come, and then says nothing if not', async () => {
    const place = await world.slack.thread.openDirect('U0ROY');
    world.local.faults.queue({ method: 'chat.postMessage', kind: 'ratelimited' });
    let asked = 0;
    const sure = async (): Promise<void> => {
      asked += 1;
      if (asked === 2) throw new KdebugError('lease_lost');
    };
    await expect(world.slack.thread.post(place, saying('late'), result, sure)).rejects.toMatchObject({
      code: 'lease_lost',
    });
    expect(asked).toBe(2);
    const open = async function* () {
      yield Buffer.from('x');
    };
    const file = { filename: 'a.log', title: 'a', bytes: 1, open };
    const notOurs = () => Promise.reject(new KdebugError('lease_lost'));
    await expect(world.slack.thread.share(place, () => saying('x'), [file], notOurs)).rejects.toMatchObject({
      code: 'lease_lost',
    });
    expect(world.local.messages(place.channelId)).toEqual([]);
    expect(world.local.files()).toEqual([]);
  });

  it('opens a direct conversation', async () => {
    const place = await world.slack.thread.openDirect('U0ROY');
    const ref = await world.slack.thread.post(place, saying('your result'), result);
    expect(world.local.message(place.channelId, ref.ts)?.text).toBe('your result');
  });
});
