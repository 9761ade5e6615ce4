import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atOnce } from './deaths/at-once.ts';
import { DeathScene, type End, type Told } from './deaths/death-scene.ts';
import type { Victim } from './deaths/victims.ts';

const kubeconfigPath = process.env.KUBECONFIG ?? '';
/** How often each leak dies. */
const TIMES = Number(process.env.KDEBUG_LEAKS ?? 1);
/** Part of a leak's name, for somebody who asks for some. */
const ONLY = process.env.KDEBUG_LEAKS_ONLY ?? '';
/** Of all leaks, those that may reach the limit unseen on a busy machine. */
const MISSED_AT_MOST = 0.05;

interface Leak {
  readonly name: string;
  readonly victim: Victim;
  readonly when: string;
}

interface Seen {
  readonly leak: Leak;
  readonly end: End;
  readonly told: Told;
}

/** A program that takes 1 MiB after each pause, up to a limit of 64 MiB that it shares with the watch. */
const leak = (milliseconds: number, percent: number): Leak => ({
  name: `1 MiB each ${milliseconds} ms, memory>${percent}%`,
  when: `memory>${percent}%`,
  victim: {
    name: `a leak of 1 MiB each ${milliseconds} ms`,
    image: 'target-deaths',
    command: ['/app/c', 'leak', '0', `${milliseconds}`],
    memory: '64Mi',
    cause: /killed for memory/,
  },
});

const LEAKS = [leak(10, 80), leak(2, 80), leak(10, 92)];

/** At how many MiB its stack was read while it lived, down to the function that leaks; undefined where it was not. */
const seenAt = ({ told }: Seen): number | undefined => {
  const [, used] = /^Memory passed \d+ % \((\d+) of 64 MiB.* was in leak\+0x/m.exec(told.log) ?? [];
  return used === undefined ? undefined : Number(used);
};

const heldOf = ({ log }: Told): number | undefined => {
  const [, length] = /threads were held for ([\d.]+) ms/.exec(log) ?? [];
  return length === undefined ? undefined : Number(length);
};

/** As docs/blackbox.md has them. */
const rowOf = (of: Leak, all: readonly Seen[]): string => {
  const own = all.filter((seen) => seen.leak === of);
  const used = own.flatMap((seen) => seenAt(seen) ?? []).sort((a, b) => a - b);
  const told = own.filter((seen) => of.victim.cause.test(seen.told.verdict)).length;
  const held = own.flatMap(({ told }) => heldOf(told) ?? []).sort((a, b) => a - b);
  const at = `at ${used[0]} to ${used.at(-1)} MiB, held for ${held[0]} to ${held.at(-1)} ms, in the middle ${held[held.length >> 1]}`;
  return `${of.name}: with stacks ${used.length} of ${own.length}, ${at}; its death told ${told} times`;
};

describe.skipIf(kubeconfigPath === '')('a leak', () => {
  let scene: DeathScene;

  beforeAll(async () => {
    scene = new DeathScene(readFileSync(kubeconfigPath, 'utf8'));
    await scene.begin();
  });
  afterAll(() => scene?.cleanUp());

  it('is seen with its stacks before its death', async () => {
    const leaks = LEAKS.filter(({ name }) => name.includes(ONLY));
    const seen: Seen[] = [];
    await atOnce(Array.from({ length: TIMES }, () => leaks).flat(), async (each) => {
      seen.push({ leak: each, ...(await scene.watched(each.victim, 'restricted', each.when)) });
    });
    const missed = seen.filter((each) => seenAt(each) === undefined);
    const logs = missed.map(({ told }) => `the watch ended with ${told.exitCode}:\n${told.log.slice(0, 2000)}`);
    console.log([...logs, ...leaks.map((each) => rowOf(each, seen))].join('\n'));
    expect(seen.filter(({ end }) => end.exitCode !== 137)).toEqual([]);
    expect(missed.length).toBeLessThanOrEqual(Math.max(1, seen.length * MISSED_AT_MOST));
  });
});
