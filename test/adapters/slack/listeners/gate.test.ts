import { expect, it } from 'vitest';
import {
  admit,
  answerLater,
  type GatedCall,
  type ListenerContext,
} from '../../../../src/adapters/slack/listeners/gate.ts';
import type { Answer } from '../../../../src/flow/ports/slack.ts';
import { sleep } from '../../../../src/lib/clock.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { RecordingLog, says } from '../harness.ts';

const ROY = {
  userId: 'U0ROY',
  channelId: 'C0SHOP',
  teamIds: ['T0LOCAL'],
  enterpriseId: undefined,
  appId: 'A0KDEBUG',
};
const HANDLER = { name: 'approve', needs: 'member', namesApp: true } as const;

/** A request whose person takes Slack `lookUpMs`, and whose answer takes the inbox `answerMs`. */
function asked({ lookUpMs, answerMs }: { readonly lookUpMs: number; readonly answerMs: number }) {
  const clock = new FakeClock();
  const begun: string[] = [];
  const after = async <Value>(ms: number, value: Value): Promise<Value> => {
    await sleep(clock, ms);
    return value;
  };
  const context = {
    clock,
    log: new RecordingLog(),
    identity: { teamId: 'T0LOCAL', appId: 'A0KDEBUG', botUserId: 'U0KDEBUG' },
    directory: { person: () => after(lookUpMs, { kind: 'member' }) },
    isStopping: () => false,
  } as unknown as ListenerContext;
  const call = () => {
    begun.push('the vote');
    return after(answerMs, says('Your vote counts'));
  };
  const admitted = (more: Partial<GatedCall<Answer>> = { whenLate: answerLater }) =>
    admit<Answer>({ context, handler: HANDLER }, { sender: ROY, call, ...more });
  return { clock, begun, admitted };
}

it('what has begun by Slack’s deadline is answered later, however long the look-up of the person took', async () => {
  const { clock, admitted } = asked({ lookUpMs: 1_400, answerMs: 2_000 });
  const admission = admitted();
  await settle();
  await clock.advance(1_400);
  await clock.advance(1_300);
  const answered = await admission;
  expect(answered).toMatchObject({ kind: 'answered', answer: { kind: 'later' } });
  await clock.advance(700);
  const promise = 'answer' in answered && 'answer' in answered.answer ? answered.answer.answer : undefined;
  expect(await promise).toEqual(says('Your vote counts'));
});

it('is refused when the person is looked up too late, and then never begins', async () => {
  const { clock, begun, admitted } = asked({ lookUpMs: 3_000, answerMs: 0 });
  const admission = admitted();
  await clock.advance(2_700);
  expect(await admission).toMatchObject({ kind: 'refused', error: { code: 'slack_not_taken' } });
  await clock.advance(300);
  expect(begun).toEqual([]);
});

it('a question whose answer nobody could show later is refused', async () => {
  const { clock, admitted } = asked({ lookUpMs: 0, answerMs: 5_000 });
  const admission = admitted({});
  await clock.advance(1);
  await clock.advance(2_700);
  expect(await admission).toMatchObject({ kind: 'refused', error: { code: 'slack_not_taken' } });
});
