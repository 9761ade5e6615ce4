import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PagePod } from '../../../page/contract.ts';
import type { StoredMessage } from '../../../slack/index.ts';
import { openPage, type PageBed, SHOP, type Stream } from './open-page.ts';

let page: PageBed;
let stream: Stream;
beforeEach(async () => {
  page = await openPage();
  stream = await page.stream();
});
afterEach(async () => {
  await stream?.close();
  await page?.stop();
});

const slack = () => page.bed.slack;
const textOf = (message: StoredMessage): string => JSON.stringify([message.text, message.blocks]);
const make = (id: string, pod = 'pod-1234') => page.do({ kind: 'trouble', id, namespace: 'shop', pod });
const untilPod = (fits: (pod: PagePod) => boolean, name = 'pod-1234') =>
  stream.until((change) => change.kind === 'pod' && change.pod.name === name && fits(change.pod));

/** A run that lasts; resolves when its container runs. */
async function longRun(): Promise<StoredMessage> {
  await page.type('/kdebug pod-1234 --image=debian -- sleep 60');
  await untilPod(({ containers }) => containers.some(({ kind, state }) => kind === 'debug' && state === 'running'));
  return anchor();
}

const anchor = (): Promise<StoredMessage> => slack().until(() => slack().messages(SHOP)[0]);
const untilAnchor = (part: string): Promise<StoredMessage> =>
  slack().until(() =>
    slack()
      .messages(SHOP)
      .find((message) => textOf(message).includes(part)),
  );
const quick = () => page.type('/kdebug pod-1234 --image=debian -- echo made it');
const result = async (): Promise<readonly StoredMessage[]> => {
  const root = await untilAnchor('Succeeded');
  await slack().until(() => slack().thread(SHOP, root.ts).length > 0);
  return slack().thread(SHOP, root.ts);
};
const errorsOf = (method: string) =>
  slack()
    .requests(method)
    .filter(({ status }) => status !== 200);

describe('a trouble of the cluster', () => {
  it('fires an alert: its button answers in the thread of the alert', async () => {
    expect(await make('alert')).toEqual({ ok: true });
    const { ts } = await slack().until(() => slack().messages(SHOP)[0]);
    const press = { kind: 'press-attachment', user: 'U0ROY', channel: SHOP, ts, label: 'Diagnose' } as const;
    expect(await page.do(press)).toEqual({ ok: true });
    const reply = await slack().until(() => slack().thread(SHOP, ts)[0]);
    expect(textOf(reply)).toContain('pod-1234');
    expect(await page.do({ ...press, label: 'Silence' })).toMatchObject({ ok: false });
  });

  it('tells kdebug of an alert: it looks by itself, and says on the card and in the thread that it is over', async () => {
    expect(await make('alert-by-itself')).toEqual({ ok: true });
    expect((await page.snapshot()).troublesOn).toEqual(['alert-by-itself']);
    const card = await untilAnchor('KubePodCrashLooping');
    await slack().until(() => slack().thread(SHOP, card.ts)[0]);
    expect(await page.do({ kind: 'trouble', id: 'alert-by-itself' })).toEqual({ ok: true });
    await untilAnchor('resolved after');
    await slack().until(() =>
      slack()
        .thread(SHOP, card.ts)
        .some((reply) => textOf(reply).includes('resolved after')),
    );
    expect(slack().messages(SHOP)).toHaveLength(1);
    expect((await page.snapshot()).troublesOn).toEqual([]);
  });

  it('kills the container: it starts again, and the run says that its target ended', async () => {
    await longRun();
    expect(await make('kill')).toEqual({ ok: true });
    await untilPod(({ containers }) => containers[0]?.restarts === 1);
    await untilAnchor('the target exited');
  });

  it('kills it for memory', async () => {
    await longRun();
    await make('oom');
    await untilPod(({ containers }) => containers[0]?.reason === 'OOMKilled');
    await untilAnchor('the target exited');
  });

  it('deletes the pod: it is shown as going, then gone, and comes back', async () => {
    await longRun();
    await make('delete');
    await untilPod(({ deleting }) => deleting);
    await stream.until((change) => change.kind === 'pod-gone' && change.name === 'pod-1234');
    await untilAnchor('The pod is gone');
    await untilPod(({ phase }) => phase === 'Running');
  });

  it('rolls out a wrong image, and deleting brings the good one back', async () => {
    await longRun();
    await make('wrong-image');
    await untilAnchor('The pod is gone');
    await untilPod(({ containers }) => containers[0]?.reason === 'ImagePullBackOff');
    await make('delete');
    await untilPod(({ containers }) => containers[0]?.state === 'running');
  });

  it('takes the node away until it is asked again; a run waits for it', async () => {
    await make('node-away');
    await stream.until((change) => change.kind === 'troubles-on' && change.on.includes('node-away'));
    expect((await page.snapshot()).troublesOn).toEqual(['node-away']);
    await quick();
    await untilPod(({ containers }) => containers.length === 2);
    const log = await page.get('/logs?namespace=shop&pod=pod-1234&container=web');
    expect([log.status, await log.text()]).toEqual([409, 'The node local-node is away, and the logs with it.']);
    await make('node-away');
    await stream.until((change) => change.kind === 'troubles-on' && change.on.length === 0);
    expect(await result()).toHaveLength(1);
  });

  it('slows the API down until it is asked again', async () => {
    await make('api-slow');
    await quick();
    const begun = Date.now();
    await slack().until(() => page.cluster.requests.find({ verb: 'patch', status: 200 })[0]);
    expect(Date.now() - begun).toBeGreaterThan(1_500);
    await make('api-slow');
    expect(await result()).toHaveLength(1);
    expect(page.cluster.faults.waiting).toBe(0);
  });

  it('needs a pod that is there', async () => {
    expect(await page.do({ kind: 'trouble', id: 'kill' })).toEqual({ ok: false, error: 'Choose a pod first.' });
    expect(await make('kill', 'no-such')).toMatchObject({ ok: false });
    expect(await make('no-such')).toEqual({ ok: false, error: 'There is no such trouble.' });
  });
});

describe('a trouble of Slack', () => {
  it('limits the rate: the result comes later, once', async () => {
    await make('slack-429');
    await quick();
    expect(await result()).toHaveLength(1);
    expect(errorsOf('chat.postMessage').map(({ status }) => status)).toEqual([429, 429]);
  });

  it('fails with 503: nothing is lost or said twice', async () => {
    await make('slack-5xx');
    await quick();
    expect(await result()).toHaveLength(1);
    expect(errorsOf('chat.postMessage').map(({ status }) => status)).toEqual([503, 503]);
    expect(slack().messages(SHOP)).toHaveLength(1);
  });

  it('drops the answer after the commit: the bot looks instead of posting again', async () => {
    await make('slack-drop');
    await quick();
    expect(await result()).toHaveLength(1);
    expect(errorsOf('chat.postMessage')).toEqual([expect.objectContaining({ status: 0 })]);
    expect(slack().requests('conversations.history').length).toBeGreaterThan(0);
    expect(slack().messages(SHOP)).toHaveLength(1);
  });
});
