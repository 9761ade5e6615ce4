import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atOnce } from './deaths/at-once.ts';
import { DeathScene, type End, type Told, type WatchProfile } from './deaths/death-scene.ts';
import { VICTIMS, type Victim } from './deaths/victims.ts';

const kubeconfigPath = process.env.KUBECONFIG ?? '';
/** How often each victim dies under each profile; without it, once under one. */
const TIMES = process.env.KDEBUG_DEATHS;
/** Part of a victim's name, for somebody who asks for some; each answer is printed then. */
const ONLY = process.env.KDEBUG_DEATHS_ONLY;
/** The watch lets go of a process after 950 ms, whatever it has read. */
const HELD_AT_MOST_MS = 1000;

/** Of all deaths, those that a machine without CPU may leave unnamed. */
const MISSED_AT_MOST = 0.1;

interface Death {
  readonly victim: Victim;
  readonly profile: WatchProfile;
  readonly end: End;
  readonly told: Told;
}

const isNamed = ({ victim, told }: Death): boolean => victim.cause.test(told.verdict);
/** It had no time to read more, or the memory was gone. */
const isExcused = ({ victim, told }: Death): boolean => told.isLate || victim.atLeast?.test(told.verdict) === true;
const wordsOf = ({ victim, profile, end, told }: Death): string =>
  `${victim.name} (${profile}): ${end.exitCode} ${end.reason}, held ${told.heldMs} ms${told.isLate ? ', late' : ''}: ${told.verdict}`;

describe.skipIf(kubeconfigPath === '')('the death of a program', () => {
  const victims = VICTIMS.filter(({ name }) => name.includes(ONLY ?? ''));
  const profiles: readonly WatchProfile[] = TIMES === undefined ? ['restricted'] : ['restricted', 'general'];
  let scene: DeathScene;

  beforeAll(async () => {
    scene = new DeathScene(readFileSync(kubeconfigPath, 'utf8'));
    await scene.begin();
  });
  afterAll(() => scene?.cleanUp());

  it('is told by its cause, and is the same as without a watch', async () => {
    const broken: string[] = [];
    const attempt = async <T>(what: string, run: () => Promise<T>): Promise<readonly T[]> => {
      try {
        return [await run()];
      } catch (error) {
        broken.push(`${what}: ${String(error).slice(0, 600)}`);
        return [];
      }
    };
    const twins = new Map<Victim, End>();
    await atOnce(victims, async (victim) => {
      for (const end of await attempt(`${victim.name} alone`, () => scene.alone(victim))) twins.set(victim, end);
    });
    const deaths: Death[] = [];
    await atOnce(roundsOf(victims, profiles, Number(TIMES ?? 1)), async ([victim, profile]) => {
      const watch = () => scene.watched(victim, profile);
      for (const seen of await attempt(`${victim.name} (${profile})`, watch)) {
        const death = { victim, profile, ...seen };
        deaths.push(death);
        if (ONLY !== undefined) console.log(`${wordsOf(death)}\n${death.told.log.slice(0, 4000)}`);
      }
    });
    console.log(tableOf(victims, profiles, deaths, twins).join('\n'));
    expect(broken).toEqual([]);
    const sameAs = (end: End | undefined) => JSON.stringify(end);
    const changed = deaths.filter(({ victim, end }) => sameAs(end) !== sameAs(twins.get(victim)));
    expect(changed.map(wordsOf)).toEqual([]);
    // Written so that a time which is missing is wrong too.
    const harmed = deaths.filter(({ told }) => !(told.heldMs <= HELD_AT_MOST_MS) || told.exitCode !== 0);
    expect(harmed.map(wordsOf)).toEqual([]);
    // On a machine that gives it no CPU it must rather leave something out than hold for longer, and say so.
    const wrong = deaths.filter((death) => !isNamed(death));
    expect(wrong.filter((death) => !isExcused(death)).map(wordsOf)).toEqual([]);
    expect(wrong.length).toBeLessThanOrEqual(deaths.length * MISSED_AT_MOST);
  });
});

/** Each victim under each profile, so often, and neighbours in time as different as can be. */
function roundsOf(
  victims: readonly Victim[],
  profiles: readonly WatchProfile[],
  times: number,
): readonly (readonly [Victim, WatchProfile])[] {
  const round = profiles.flatMap((profile) => victims.map((victim) => [victim, profile] as const));
  return Array.from({ length: times }, () => round).flat();
}

/** What people read below the first line. */
const shortOf = ({ told }: Death): string => told.log.split('-----BEGIN')[0] ?? '';

/** A row for each victim and profile, as docs/blackbox.md has them. */
function tableOf(
  victims: readonly Victim[],
  profiles: readonly WatchProfile[],
  deaths: readonly Death[],
  twins: ReadonlyMap<Victim, End>,
): readonly string[] {
  const row = (victim: Victim, profile: WatchProfile): string => {
    const own = deaths.filter((each) => each.victim === victim && each.profile === profile);
    const twin = twins.get(victim);
    const same = own.filter(({ end }) => JSON.stringify(end) === JSON.stringify(twin)).length;
    const held = own.map(({ told }) => told.heldMs).sort((a, b) => a - b);
    const late = own.filter(({ told }) => told.isLate).length;
    const cells = [
      victim.name,
      profile,
      `${twin?.exitCode} ${twin?.reason}, ${same} of ${own.length}`,
      `${own.filter(isNamed).length}${late > 0 ? `, ${late} late` : ''}`,
      `${held[0]} to ${held.at(-1)}, mostly ${held[Math.floor(held.length / 2)]}`,
    ];
    return `| ${cells.join(' | ')} |`;
  };
  const said = deaths
    .filter((death) => !isNamed(death))
    .map((death) => `not named: ${wordsOf(death)}\n${shortOf(death)}`);
  return [
    ...said,
    '| the process | profile | its exit code, as without us | named | held |',
    '| --- | --- | --- | --- | --- |',
    ...victims.flatMap((victim) => profiles.map((profile) => row(victim, profile))),
  ];
}
