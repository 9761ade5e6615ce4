import type { WebClient } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { createThread } from '../../../../src/adapters/slack/thread/thread.ts';
import type { Thread } from '../../../../src/flow/ports/slack.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { saying } from '../harness.ts';

const APPROVERS = Array.from({ length: 20 }, (_, n) => `U0APPROVER${n}`);
/** `limits.runsPerUserPerMinute` where the policy says nothing. */
const REQUESTS = 6;
const ROOM = { channelId: 'C0APPROVERS' };
const RUN = 'abcdefgh23';

/** A Slack that takes everything at once: what waits, waits at the poster. */
function aThread(clock: FakeClock, refuse: string[] = []) {
  const calls: string[] = [];
  let ts = 0;
  const posted = async ({ channel }: { channel: string }) => {
    calls.push('post');
    ts += 1;
    return { ok: true, channel, ts: `${ts}.0` };
  };
  const opened = async ({ users }: { users: string }) => {
    calls.push('open');
    return refuse.pop() ? { ok: true } : { ok: true, channel: { id: `D${users}` } };
  };
  const client = {
    chat: { postMessage: posted, update: posted },
    conversations: { open: opened },
  } as unknown as WebClient;
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const options = { client, apiUrl: 'https://slack.com/api/', clock, log, through: {}, ourselves: () => undefined };
  return { ...createThread(options), calls };
}

/** In how many milliseconds it is answered. */
async function waited(clock: FakeClock, act: Promise<unknown>): Promise<number> {
  const fromMs = clock.now();
  let doneMs: number | undefined;
  void act.then(() => {
    doneMs = clock.now();
  });
  await clock.advance(600_000);
  return (doneMs ?? Number.POSITIVE_INFINITY) - fromMs;
}

const meta = (kind: 'copy' | 'reminder' | 'result', seq: number) => ({ run: RUN, kind, seq });
const many = (thread: Thread, count: number, kind: 'copy' | 'reminder') =>
  Array.from({ length: count }, (_, seq) => thread.post(ROOM, saying('asked'), meta(kind, seq)));

describe('who asks for approvals over and over keeps nobody else from their result', () => {
  it('a direct message is opened once a person', async () => {
    const clock = new FakeClock();
    const { thread, calls, close } = aThread(clock);
    const all = Array.from({ length: REQUESTS }, () => APPROVERS.map((userId) => thread.openDirect(userId))).flat();
    expect(await waited(clock, thread.openDirect('U0ROY'))).toBe(0);
    expect(calls).toHaveLength(APPROVERS.length + 1);
    expect(new Set((await Promise.all(all)).map(({ channelId }) => channelId)).size).toBe(APPROVERS.length);
    close();
  });

  it('one that could not be opened is asked for again', async () => {
    const clock = new FakeClock();
    const { thread, close } = aThread(clock, ['once']);
    const refused = thread.openDirect('U0BOB').catch(({ code }) => code);
    await clock.advance(60_000);
    const again = thread.openDirect('U0BOB');
    await clock.advance(1_000);
    expect([await refused, await again]).toEqual(['slack_unanswered', { channelId: 'DU0BOB' }]);
    close();
  });

  it.each(['copy', 'reminder'] as const)('in one channel a result goes before each %s', async (kind) => {
    const clock = new FakeClock();
    const { thread, close } = aThread(clock);
    void Promise.allSettled(many(thread, 40, kind));
    expect(await waited(clock, thread.post(ROOM, saying('result'), meta('result', 99)))).toBe(0);
    close();
  });
});
