import { expect, it } from 'vitest';
import { CallBudget } from '../../../../src/adapters/slack/members/call-budget.ts';
import { type AskSlack, MemberLists, type People } from '../../../../src/adapters/slack/members/member-lists.ts';
import { KdebugError } from '../../../../src/core/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const slow = (): never => {
  throw new KdebugError('slack_unreachable', { facts: { kind: 'slow' } });
};

function listsOf(perMinute: number, read: (id: string, ask: AskSlack) => Promise<People>) {
  const clock = new FakeClock();
  const budget = new CallBudget(clock, perMinute);
  const lists = new MemberLists({ clock, budget, read, deadline: { ms: 1_500, onLate: slow } });
  const use = async (calls: number) => {
    for (let call = 0; call < calls; call += 1) await budget.ask(1, async () => undefined);
  };
  return { clock, lists, use };
}

/** Answers when the test says so, in the order of the questions. */
function held() {
  const waiting: ((people: readonly string[]) => void)[] = [];
  const question = () => new Promise<People>((resolve) => waiting.push((people) => resolve(new Set(people))));
  return { question, answer: (...people: string[]) => waiting.shift()?.(people) };
}

const aWhile = () => new Promise((resolve) => setTimeout(resolve, 1));

it('large lists that do not all fit into one minute are known after some', async () => {
  const { clock, lists } = listsOf(100, async (_id, ask) => {
    for (let page = 0; page < 4; page += 1) await ask(async () => undefined);
    return new Set(['U0ROY']);
  });
  const ids = Array.from({ length: 20 }, (_, index) => `C0${index}`);
  const known: number[] = [];
  for (let minute = 0; minute < 4; minute += 1) {
    const got = await Promise.allSettled(ids.map((id) => lists.get(id, 'shown')));
    known.push(got.filter(({ status }) => status === 'fulfilled').length);
    await clock.advance(60_001);
  }
  expect(known[0]).toBeGreaterThan(10);
  expect(known.at(-1)).toBe(20);
});

it('a decision does not wait for a load that is only for showing, nor fail with it', async () => {
  const { question, answer } = held();
  const { clock, lists, use } = listsOf(10, async (_id, ask) => {
    const first = await ask(question);
    await ask(async () => undefined);
    return first;
  });
  await use(5);
  const shown = lists.get('C0SHOP', 'shown');
  const decided = lists.get('C0SHOP', clock.elapsed());
  await aWhile();
  answer('U0ROY');
  await expect(shown).rejects.toMatchObject({ code: 'slack_busy' });
  answer('U0ROY');
  expect([...(await decided)]).toEqual(['U0ROY']);
});

it('a list that changes while it is read is not remembered as it was', async () => {
  const { question, answer } = held();
  const { lists, use } = listsOf(10, (_id, ask) => ask(question));
  const before = lists.get('S0SRE', 'shown');
  lists.forget('S0SRE');
  answer('U0BOB');
  expect([...(await before)]).toEqual(['U0BOB']);
  await use(9);
  await expect(lists.get('S0SRE', 'shown')).rejects.toMatchObject({ code: 'slack_busy' });
});

it('what was known is shown where a new answer does not come in time', async () => {
  const { question, answer } = held();
  const { clock, lists } = listsOf(10, (_id, ask) => ask(question));
  const first = lists.get('S0SRE', 'shown');
  await aWhile();
  answer('U0BOB');
  await first;
  await clock.advance(60_001);
  const again = lists.get('S0SRE', 'shown');
  await clock.advance(1_501);
  expect([...(await again)]).toEqual(['U0BOB']);
});
