import type { Destination } from '../../../src/flow/ports/slack.ts';
import type { Said } from '../../flow/support/fakes.ts';
import type { PortScene, Story } from './port-scene.ts';

/** What the suite counts over all its histories. */
export class Tally {
  lost = 0;
  duplicates = 0;
  readonly broken: string[] = [];

  lose(what: string): void {
    this.lost += 1;
    this.broken.push(`lost: ${what}`);
  }

  double(what: string): void {
    this.duplicates += 1;
    this.broken.push(`double: ${what}`);
  }

  wrong(what: string): void {
    this.broken.push(what);
  }

  add(other: Tally): void {
    this.lost += other.lost;
    this.duplicates += other.duplicates;
    this.broken.push(...other.broken);
  }
}

/**
 * Judges a history by what Slack, the cluster and the audit log hold in the end, never by what the bot says of itself:
 * every accepted run told once and fully (I1), one container (I2), nobody's approval skipped (I3), in the right words (I4),
 * every deed on record (I9).
 */
export async function judge(scene: PortScene, { expected }: Story): Promise<Tally> {
  const tally = new Tally();
  const run = await scene.run();
  if (!run && !scene.acknowledged) {
    if (scene.thread.posts.length + scene.cluster.asked > 0) tally.wrong('effects of a run that nobody accepted');
    return tally;
  }
  if (!run) {
    tally.lose('an acknowledged run');
    return tally;
  }
  judgeSlack(scene, expected, tally);
  judgeCluster(scene, expected, tally);
  judgeAudit(scene, expected, tally);
  if (run.state !== expected.state) tally.wrong(`state ${run.state}`);
  if (run.outcome?.kind !== expected.outcome) tally.wrong(`outcome ${JSON.stringify(run.outcome)}`);
  return tally;
}

function judgeSlack({ thread }: PortScene, expected: Story['expected'], tally: Tally): void {
  const of = (kind: string) => thread.posts.filter(({ meta }) => meta.kind === kind);
  const results = expected.state === 'denied' ? 0 : 1;
  count(tally, 'anchor', of('anchor').length, expected.anchors);
  const isAlone = ({ files }: Said): boolean =>
    expected.alone !== undefined && files.some((name) => name.endsWith(expected.alone ?? ''));
  const alone = of('result').filter(isAlone);
  // A result that notifies somebody, as after a long outage, has its files in a message of their own.
  const notifies = of('result').some(({ files }) => files.length === 0);
  const isFollowing = (post: Said): boolean => notifies && post.files.length > 0 && !isAlone(post);
  const following = of('result').filter(isFollowing);
  count(tally, 'result', of('result').length - alone.length - following.length, results);
  count(tally, 'message with the files', following.length, notifies && thread.files.length > alone.length ? 1 : 0);
  count(tally, 'message to the requester alone', alone.length, expected.alone === undefined ? 0 : 1);
  if (alone.some(({ place }) => place.channelId !== 'D-U0ROY'))
    tally.wrong('others see the file of the requester alone');
  count(tally, 'file', thread.files.length, expected.files);
  if (expected.state === 'denied' && thread.told.length === 0) tally.lose('the private refusal');
  const anchor = of('anchor')[0];
  if (expected.anchor && !anchor?.message.summary.includes(expected.anchor))
    tally.wrong(`the anchor says ${anchor?.message.summary}`);
  const result = of('result').find((post) => !isAlone(post) && !isFollowing(post));
  if (expected.result && !JSON.stringify(result?.message).includes(expected.result))
    tally.wrong(`the result says ${JSON.stringify(result?.message)}`);
  const isPlaced = ({ channelId, threadTs }: Destination): boolean =>
    expected.resultIn ? channelId === expected.resultIn : threadTs === anchor?.ref.ts;
  if (result && anchor && !isPlaced(result.place)) tally.wrong('the result is elsewhere');
  const file = thread.files.find(({ filename }) => filename.endsWith('.log'));
  if (file && !file.content.endsWith('line 119\n')) tally.wrong('the file is not the log');
  if (file && !isPlaced(file.place)) tally.wrong('the file is elsewhere');
}

function judgeCluster({ cluster }: PortScene, expected: Story['expected'], tally: Tally): void {
  count(tally, 'container', cluster.launches.length, expected.containers);
  const approvers = cluster.launches[0]?.container.env.find(({ name }) => name === 'KDEBUG_APPROVERS')?.value;
  if (approvers !== expected.approver) tally.wrong(`launched with the approval of ${approvers}`);
}

function judgeAudit({ audit, cluster }: PortScene, expected: Story['expected'], tally: Tally): void {
  const steps = new Set<string>(audit.entries.map(({ step }) => step));
  const wanted = ['request', 'decision', 'outcome', ...(cluster.launches.length > 0 ? ['patch'] : [])] as const;
  for (const step of wanted) if (!steps.has(step)) tally.wrong(`the audit log has no ${step}`);
  if (expected.approver && !steps.has('vote')) tally.wrong('the audit log has no vote');
}

function count(tally: Tally, what: string, found: number, wanted: number): void {
  for (let n = found; n < wanted; n += 1) tally.lose(what);
  for (let n = found; n > wanted; n -= 1) tally.double(what);
}
