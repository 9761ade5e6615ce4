import type { UserAndGroup } from '../../core/container/profiles.ts';

const MOST_IMAGES = 1_000;

/** Who images run as, the newest word about the newest images, in this process' memory. */
export class LearntIdentities {
  /** In the order in which they were last learnt. */
  readonly #identities = new Map<string, UserAndGroup>();

  learn(image: string, { uid, gid }: UserAndGroup): void {
    this.#identities.delete(image);
    this.#identities.set(image, { uid, gid });
    const [oldest] = this.#identities.keys();
    if (this.#identities.size > MOST_IMAGES && oldest !== undefined) this.#identities.delete(oldest);
  }

  of(image: string): UserAndGroup | undefined {
    return this.#identities.get(image);
  }
}
