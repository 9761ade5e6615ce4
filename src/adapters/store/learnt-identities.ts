import type { UserAndGroup } from '../../core/container/profiles.ts';
import type { Clock } from '../../lib/clock.ts';

const MAX_KINDS = 1_000;
/** How long what was learnt holds, from the last word. */
export const LEARNT_MS = 7 * 86_400_000;

interface Learnt {
  readonly identity: UserAndGroup;
  readonly untilMs: number;
}

/** Who targets of a kind run as, the newest word about the newest kinds, in this process' memory. */
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
