import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type AttackWorld, openWorld, type WorldOptions } from './world.ts';

/** A finding's number in the review, the letter of one that it only suspected, or a point of issue 13 beside them. */
export type Finding = number | `S-${string}` | `point ${number}`;

/** What the summary needs to know of an attack. */
export interface AttackResult {
  readonly finding: Finding;
  /** Containers that reached the cluster although the policy asks for an approval that nobody gave. */
  launches: number;
  /** The longest that an answer of the bot let others wait. */
  blockedMs: number;
}

declare module 'vitest' {
  interface TaskMeta {
    attack?: AttackResult;
  }
}

/** How long others may wait for an answer, whatever an attacker does (issue 13, point 1). */
const MAX_BLOCKED_MS = 1_000;

/** The hands of one attack: a world of its own, and what it has to report. */
export interface Attack {
  open(options?: WorldOptions): Promise<AttackWorld>;
  /** Fails, and counts, when anything was launched into these pods of `shop`. */
  nothingLaunched(world: AttackWorld, ...pods: readonly string[]): void;
  /** The same for a pod that had so many before. */
  nothingMoreLaunched(world: AttackWorld, pod: string, before: number): void;
  /** Does something while others ask, and fails when they wait for more than a second. */
  othersAreAnswered(world: AttackWorld, deed: () => Promise<unknown>): Promise<void>;
}

/**
 * One attack of the review: a test that says what must hold, under the number of the finding. Its worlds are closed afterwards.
 * A finding is closed when every attack under its number passes.
 */
export function attack(finding: Finding, promise: string, body: (attack: Attack) => Promise<void>) {
  it(`${finding}: ${promise}`, async ({ task }) => {
    const result: AttackResult = { finding, launches: 0, blockedMs: 0 };
    task.meta.attack = result;
    const worlds: AttackWorld[] = [];
    const open = async (options: WorldOptions = {}): Promise<AttackWorld> => {
      const world = await openWorld(options);
      worlds.push(world);
      return world;
    };
    try {
      await body({ open, ...judges(result) });
    } finally {
      for (const world of worlds) result.launches += world.elevatedWithoutApproval();
      await Promise.all(worlds.map((world) => world.close()));
    }
    expect(result.launches, 'launches without an approval').toBe(0);
  });
}

const judges = (result: AttackResult): Omit<Attack, 'open'> => ({
  nothingLaunched(world, ...pods) {
    const launched = pods.flatMap((pod) => world.containersOf(pod).map(({ command }) => ({ pod, command })));
    result.launches += launched.length;
    expect(launched, 'launched without an approval').toEqual([]);
  },
  nothingMoreLaunched(world, pod, before) {
    const more = world.containersOf(pod).length - before;
    result.launches += more;
    expect(more, 'launches without an approval').toBe(0);
  },
  async othersAreAnswered(world, deed) {
    const others = await world.others();
    await others.begin();
    let waits = { livezMs: 0, helpMs: 0, asked: 0, unanswered: 0 };
    try {
      await deed();
      // A deed that is over at once must not be over before others have asked.
      await pause(1_000);
    } finally {
      waits = await others.end();
      result.blockedMs = Math.max(result.blockedMs, waits.livezMs, waits.helpMs);
    }
    expect(waits.asked, 'how often others asked').toBeGreaterThan(0);
    expect(waits.unanswered, 'how often others got no answer').toBe(0);
    expect(waits.livezMs, 'the longest that /livez took').toBeLessThan(MAX_BLOCKED_MS);
    expect(waits.helpMs, 'the longest that /kdebug help took').toBeLessThan(MAX_BLOCKED_MS);
  },
});
