import type { UserAndGroup } from '../../core/container/profiles.ts';
import type { RunId } from '../../core/ids.ts';
import type { Notes } from '../../flow/ports/store.ts';
import type { Clock } from '../../lib/clock.ts';

const MAX_KINDS = 1_000;
/** How long an identity stays known after it was last learnt. */
export const LEARNT_MS = 7 * 86_400_000;

interface Learnt {
  readonly identity: UserAndGroup;
  readonly untilMs: number;
}

/** The user and group that each kind of target runs as, in memory. Bounded: the 1,000 kinds learnt last. */
export class LearntIdentities {
  readonly #clock: Pick<Clock, 'now'>;
  /** In the order in which they were last learnt. */
  readonly #kinds = new Map<string, Learnt>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  learn(kind: string, { uid, gid }: UserAndGroup): void {
    this.#kinds.delete(kind);
    this.#kinds.set(kind, { identity: { uid, gid }, untilMs: this.#clock.now() + LEARNT_MS });
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size > MAX_KINDS && oldest !== undefined) this.#kinds.delete(oldest);
  }

  of(kind: string): UserAndGroup | undefined {
    const learnt = this.#kinds.get(kind);
    return learnt && this.#clock.now() < learnt.untilMs ? learnt.identity : undefined;
  }
}

const MAX_NOTES = 100;

/** Notes in memory. Bounded: 100 a run. Reading a run's notes removes them. */
export class MemoryNotes implements Notes {
  readonly #notes = new Map<RunId, readonly string[]>();

  async leave(id: RunId, note: string): Promise<void> {
    this.#notes.set(id, [...(this.#notes.get(id) ?? []), note].slice(-MAX_NOTES));
  }

  async read(id: RunId): Promise<readonly string[]> {
    const notes = this.#notes.get(id) ?? [];
    this.#notes.delete(id);
    return notes;
  }
}
