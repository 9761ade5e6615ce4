import { beforeEach, describe, expect, it } from 'vitest';
import { KeptAnswers } from '../../../src/adapters/kubernetes/kept-answers.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('answers that are kept', () => {
  let clock: FakeClock;
  let asked: string[];
  let kept: KeptAnswers<string>;
  const ask = (key: string, answer = Promise.resolve('yes')): Promise<string> =>
    kept.of(key, () => {
      asked.push(key);
      return answer;
    });

  beforeEach(() => {
    clock = new FakeClock();
    asked = [];
    kept = new KeptAnswers({ clock, freshMs: (answer) => (answer === 'yes' ? 1_000 : 100), most: 2 });
  });

  it('are used as long as each may be, counted from the asking', async () => {
    await ask('a');
    await clock.advance(999);
    await ask('a');
    expect(asked).toEqual(['a']);
    await clock.advance(1);
    await ask('a', Promise.resolve('no'));
    await clock.advance(100);
    await ask('a');
    expect(asked).toEqual(['a', 'a', 'a']);
  });

  it('are shared by all who ask while the question is under way, however long that takes', async () => {
    let reply: (answer: string) => void = () => {};
    const late = ask('a', new Promise((resolve) => (reply = resolve)));
    await clock.advance(5_000);
    const other = ask('a');
    reply('yes');
    expect(await Promise.all([late, other])).toEqual(['yes', 'yes']);
    expect(asked).toEqual(['a']);
  });

  it('are no errors: each is thrown to all who wait, and the next one asks again', async () => {
    const failed = Promise.reject(new Error('no answer'));
    await expect(Promise.all([ask('a', failed), ask('a')])).rejects.toThrow('no answer');
    expect(await ask('a')).toBe('yes');
    expect(asked).toEqual(['a', 'a']);
  });

  it('make room for others: what was not used for longest goes', async () => {
    await ask('a');
    await ask('b');
    await ask('a');
    await ask('c');
    await ask('a');
    await ask('b');
    expect(asked).toEqual(['a', 'b', 'c', 'b']);
  });

  it('are asked for again when the clock went back', async () => {
    await ask('a');
    await clock.advance(-1);
    await ask('a');
    expect(asked).toEqual(['a', 'a']);
  });
});
