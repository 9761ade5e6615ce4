import { describe, expect, it } from 'vitest';
import { ClockCheck } from '../../../src/adapters/slack/client.ts';
import { START_MS } from '../../support/builders.ts';

function aCheck() {
  const lines: unknown[] = [];
  const note =
    (level: string) =>
    (message: string, fields: object = {}): void => {
      lines.push([level, message, Reflect.get(fields, 'aheadSeconds')]);
    };
  const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  const check = new ClockCheck({ now: () => START_MS }, log);
  return { lines, learn: (behindMs: number) => check.learn(new Date(START_MS - behindMs).toUTCString()) };
}

describe("the clock beside Slack's", () => {
  it.each([
    ['ahead', 600_000, 600],
    ['behind', -600_000, -600],
  ])('that is ten minutes %s is said to be, once, and that it is over too', (_, aheadMs, seconds) => {
    const { lines, learn } = aCheck();
    learn(0);
    learn(aheadMs);
    learn(aheadMs);
    learn(1_000);
    expect(lines).toEqual([
      ['error', expect.stringContaining('clock is wrong'), seconds],
      ['info', expect.stringContaining('agrees'), 1],
    ]);
  });

  it.each([null, '', 'soon'])('is not judged by the header %j', (date) => {
    const lines: unknown[] = [];
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => void lines.push(1) };
    new ClockCheck({ now: () => START_MS }, log).learn(date);
    expect(lines).toEqual([]);
  });
});
