import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { tagOf } from '../../play/app/our-posts.ts';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import type { StoredMessage } from '../../play/slack/index.ts';
import { startPatientBed } from '../support/patient-bed.ts';

const CHANNEL = 'C0SHOP';
const POLICY = `version: 1
clusters:
  test: { context: "local", default: true }
identity: { mode: serviceAccount }
images:
  lines: { image: "localhost/lines:1", class: observe, command: allowed }
defaultImage: lines
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [shop], classes: [observe, intrusive, elevated], profiles: [restricted, baseline] }
limits: { startDeadline: 90s, runsPerUserPerMinute: 100, runsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

let cluster: LocalCluster;
let bed: Bed;
const errors: string[] = [];

beforeAll(async () => {
  cluster = await startLocalCluster();
  bed = await startPatientBed({
    kubeconfig: cluster.kubeconfig,
    policy: POLICY,
    logTo: (line) => void (JSON.parse(line).level === 'error' && errors.push(line)),
  });
});
afterAll(async () => {
  await bed?.stop();
  await cluster?.stop();
});

let known: ReadonlySet<string>;
beforeEach(() => {
  errors.length = 0;
  known = new Set(everything().map(({ ts }) => ts));
});

const everything = (): readonly StoredMessage[] => [...bed.slack.state.channelMessages(CHANNEL).values()];
const posts = (kind: string) =>
  everything().filter((post) => !known.has(post.ts) && tagOf(bed.slack.state, post)?.kind === kind);
const remove = (ts: string) => bed.slack.state.remove(bed.slack.message(CHANNEL, ts)!);

/** Roy mentions the bot, and deletes that before the card is there. */
async function mentionedAndDeleted(pod: string, words: string): Promise<string> {
  cluster.addPod({ name: pod, namespace: 'shop' });
  const { faults, deliver } = bed.slack;
  const before = faults.hits;
  faults.queue({ method: 'chat.postMessage', kind: 'ratelimited' });
  await deliver.mention({ user: 'U0ROY', channel: CHANNEL, text: `-n shop ${pod} ${words}` });
  await bed.slack.until(() => faults.hits > before);
  const asked = everything().find(({ user, ts }) => user === 'U0ROY' && !known.has(ts))!;
  remove(asked.ts);
  return asked.ts;
}

/** Waits until the result is there, and the card shows it. */
async function end(): Promise<void> {
  await bed.slack.until(() => posts('result')[0]);
}

/** The one that Slack put off counts too. */
const askedIn = (threadTs: string) =>
  bed.slack.requests('chat.postMessage').filter(({ args }) => args.thread_ts === threadTs);

it.each([
  ['its words', "-- sh -c 'echo hello'"],
  ['its file', "-- sh -c 'seq 1 5000'"],
])('of a request that its author deleted: card and result stand in the channel, once, with %s', async (kind, words) => {
  const root = await mentionedAndDeleted(kind.replace(' ', '-'), words);
  await end();
  const [card, ...others] = posts('anchor');
  expect([card?.threadTs, others]).toEqual([undefined, []]);
  expect(posts('result').map(({ threadTs }) => threadTs)).toEqual([card?.ts]);
  expect([askedIn(root).length, errors]).toEqual([2, []]);
  expect(card?.revisions).toBeGreaterThan(0);
});

it('the same when the answer to the card got lost after it was posted', async () => {
  bed.slack.faults.queue({ method: 'chat.postMessage', kind: 'reset_after_commit', skip: 1 });
  const root = await mentionedAndDeleted('web-lost', "-- sh -c 'echo hello'");
  await end();
  const [card, ...others] = posts('anchor');
  expect([card?.threadTs, others]).toEqual([undefined, []]);
  expect(posts('result').map(({ threadTs }) => threadTs)).toEqual([card?.ts]);
  expect([askedIn(root).length, errors]).toEqual([2, []]);
});

it('of a card that somebody deleted while the run went on: one result, in the channel', async () => {
  cluster.addPod({ name: 'web-card', namespace: 'shop' });
  await bed.slack.deliver.command({ user: 'U0ROY', channel: CHANNEL, text: '-n shop web-card -- sleep 2' });
  const card = await bed.slack.until(() => posts('anchor')[0]);
  remove(card.ts);
  await end();
  expect(posts('result').map(({ threadTs }) => threadTs)).toEqual([undefined]);
  expect([posts('anchor'), askedIn(card.ts), errors]).toEqual([[], [], []]);
});
