import { sampleOf } from '../../support/sample.ts';
import { judge, Tally } from './check.ts';
import type { CrashPoint, Mark } from './effects.ts';
import { PortScene, type Story } from './port-scene.ts';

/** What came of a set of histories. */
export interface Findings {
  /** Crash points, or pairs of them, and how many of them were survived. */
  readonly points: number;
  readonly held: number;
  /** Histories that were played: points that leave the world in the same state have one and the same future. */
  readonly played: number;
  readonly lost: number;
  readonly duplicates: number;
  /** What went wrong, each with its crash points, so that it can be told again. */
  readonly broken: readonly string[];
}

/** The story with every crash of its first replica, one at a time. */
export async function singles(story: Story): Promise<Findings> {
  const found = new Found(story);
  const quiet = new PortScene(story);
  await quiet.play();
  for (const same of grouped(quiet.effects.marks(0))) await found.tell([same[0]], same.length);
  return found;
}

/** For every crash of the first replica, every crash of the one that recovers; outside the full run a sample of both. */
export async function pairs(story: Story): Promise<Findings> {
  const found = new Found(story);
  const quiet = new PortScene(story);
  await quiet.play();
  for (const firsts of sampleOf(`first crashes in ${story.name}`, grouped(quiet.effects.marks(0)), 2)) {
    const recovery = new PortScene(story, [firsts[0]]);
    await recovery.play();
    for (const seconds of sampleOf(`second crashes in ${story.name}`, grouped(recovery.effects.marks(1)), 4))
      await found.tell([firsts[0], seconds[0]], firsts.length * seconds.length);
  }
  return found;
}

export type Group = readonly [Mark, ...Mark[]];

/** Marks of one state together; each by itself when `KDEBUG_FAULTS=all`. */
export function grouped(marks: readonly Mark[]): readonly Group[] {
  const groups = new Map<string, [Mark, ...Mark[]]>();
  for (const mark of marks) {
    const key = process.env.KDEBUG_FAULTS === 'all' ? `${mark.when} ${mark.effect}` : mark.state;
    const group = groups.get(key);
    if (group) group.push(mark);
    else groups.set(key, [mark]);
  }
  return [...groups.values()];
}

class Found implements Findings {
  points = 0;
  held = 0;
  played = 0;
  lost = 0;
  duplicates = 0;
  readonly broken: string[] = [];
  readonly #story: Story;

  constructor(story: Story) {
    this.#story = story;
  }

  async tell(crashes: readonly CrashPoint[], points: number): Promise<void> {
    const tally = await tell(this.#story, crashes);
    this.played += 1;
    this.points += points;
    this.held += tally.broken.length === 0 ? points : 0;
    this.lost += tally.lost;
    this.duplicates += tally.duplicates;
    const where = crashes.map(({ effect, when }) => `${when} ${effect}`).join(', then ');
    for (const what of tally.broken) this.broken.push(`${this.#story.name}, crash ${where}: ${what}`);
  }
}

async function tell(story: Story, crashes: readonly CrashPoint[]): Promise<Tally> {
  const scene = new PortScene(story, crashes);
  const tally = new Tally();
  try {
    await scene.play();
  } catch (error) {
    tally.lose(String(error).slice(0, 500));
    return tally;
  }
  const judged = await judge(scene, story);
  if (scene.effects.hits !== crashes.length) judged.wrong('a crash point was not reached');
  return judged;
}
