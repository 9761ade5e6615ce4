import { expect, it } from 'vitest';
import { Fresh } from '../../../src/adapters/slack/fresh.ts';
import { FakeClock } from './fake-clock.ts';

it('it keeps no more than it may: the oldest answers go first', async () => {
  const fresh = new Fresh<string>({ clock: new FakeClock(), maxAgeMs: 1_000, maxEntries: 2 });
  const asked: string[] = [];
  const get = (key: string) =>
    fresh.get(key, async () => {
      asked.push(key);
      return key;
    });
  for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await get(key);
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});

it('the age of an answer counts from its question, so a slow one is not kept longer', async () => {
  const clock = new FakeClock();
  const fresh = new Fresh<number>({ clock, maxAgeMs: 5_000, maxEntries: 2 });
  const answers: ((value: number) => void)[] = [];
  const ask = () => new Promise<number>((resolve) => void answers.push(resolve));
  const first = fresh.get('a', ask);
  await clock.advance(1_400);
  answers[0]?.(1);
  expect(await first).toBe(1);
  await clock.advance(3_599);
  expect(await fresh.get('a', ask)).toBe(1);
  await clock.advance(1);
  const second = fresh.get('a', ask);
  answers[1]?.(2);
  expect(await second).toBe(2);
});

it('a late failure does not throw away the answer that came after it', async () => {
  const clock = new FakeClock();
  const fresh = new Fresh<number>({ clock, maxAgeMs: 5_000, maxEntries: 2 });
  let fail: (error: Error) => void = () => undefined;
  const hanging = fresh.get(
    'a',
    () =>
      new Promise<number>((_, reject) => {
        fail = reject;
      }),
  );
  const refused = expect(hanging).rejects.toMatchObject({ code: 'slack_unreachable' });
  await clock.advance(1_500);
  await refused;
  expect(await fresh.get('a', async () => 2)).toBe(2);
  fail(new Error('late'));
  await clock.advance(1);
  expect(await fresh.get('a', async () => 3)).toBe(2);
});

it('an answer that was asked for before the moment that counts is asked for again, and shared by those after it', async () => {
  const clock = new FakeClock();
  const fresh = new Fresh<number>({ clock, maxAgeMs: 60_000, maxEntries: 2 });
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return asked;
  };
  expect(await fresh.get('a', ask)).toBe(1);
  await clock.advance(10);
  expect(await fresh.get('a', ask, clock.now())).toBe(2);
  expect(await fresh.get('a', ask, clock.now())).toBe(2);
  expect(await fresh.get('a', ask)).toBe(2);
});

it('a question that hangs since before that moment is not waited for: it is asked again', async () => {
  const clock = new FakeClock();
  const fresh = new Fresh<number>({ clock, maxAgeMs: 60_000, maxEntries: 2 });
  const hanging = fresh.get('a', () => new Promise<number>(() => undefined));
  const refused = expect(hanging).rejects.toMatchObject({ code: 'slack_unreachable' });
  await clock.advance(10);
  expect(await fresh.get('a', async () => 2, clock.now())).toBe(2);
  await clock.advance(1_500);
  await refused;
});
