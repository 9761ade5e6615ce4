/** Where a replica is to die: right before or right after its n-th effect of a name (`slack.post:anchor#1`). */
export interface CrashPoint {
  readonly replica: number;
  readonly effect: string;
  readonly when: 'before' | 'after';
}

/** One replica's life. Dead: none of its further effects happen, none of its timers fire, none of its answers arrive. */
export interface Life {
  readonly index: number;
  dead: boolean;
  /** Stopped, as by SIGSTOP, until this resolves: what it was about to do happens then. */
  frozen?: Promise<void> | undefined;
}

/** Where a replica stands still before an effect; `reached` is called there and gives back what it waits for. */
export interface Stall {
  readonly replica: number;
  readonly effect: string;
  reached(life: Life): void;
}

/** A crash point, and the state of the world there: what a replica that recovers will meet. */
export interface Mark extends CrashPoint {
  readonly state: string;
  readonly atMs: number;
}

/** Calls that change nothing outside. */
const LOOKS = /^(store\.(read|recent|granting|check|learnt)|slack\.find|cluster\.(?!launch)|log\.|spool\.|directory\.)/;

/** What never comes: the awaiting code is garbage, as the memory of a dead process is. */
const never = <Value>(): Promise<Value> => new Promise<Value>(() => {});

/** Names every external effect of every replica in order, and lets a replica die around a chosen one. */
export class Effects {
  readonly #crashes: readonly CrashPoint[];
  readonly #marks: Mark[] = [];
  #changes = 0;
  stall: Stall | undefined;
  /** Passed before every effect: whoever opens it decides the order of things. */
  gate: ((effect: string) => Promise<void>) | undefined;
  readonly #counts = new Map<string, number>();
  readonly #hit = new Set<CrashPoint>();
  readonly #now: () => number;

  constructor(crashes: readonly CrashPoint[], now: () => number) {
    this.#crashes = crashes;
    this.#now = now;
  }

  /** Both sides of every effect of one replica, in the order in which they came. */
  marks(replica: number): readonly Mark[] {
    return this.#marks.filter((mark) => mark.replica === replica);
  }

  /** The effects of one replica, in the order in which they began. */
  of(replica: number): readonly string[] {
    return this.marks(replica).flatMap(({ effect, when }) => (when === 'before' ? [effect] : []));
  }

  /** Crash points that were reached. */
  get hits(): number {
    return this.#hit.size;
  }

  async through<Value>(life: Life, name: string, act: () => Promise<Value>): Promise<Value> {
    if (life.dead) return never();
    await life.frozen;
    const effect = this.#name(life, name);
    this.#crashAt(life, effect, 'before');
    if (life.dead) return never();
    await this.gate?.(`${life.index} ${effect}`);
    this.#stallAt(life, effect);
    await life.frozen;
    if (!LOOKS.test(name) && name !== 'store.claim') this.#changes += 1;
    const value = await settled(act);
    if (changed(name, value)) this.#changes += 1;
    await life.frozen;
    if (life.dead) return never();
    this.#crashAt(life, effect, 'after');
    if (life.dead) return never();
    if ('error' in value) throw value.error;
    return value.value;
  }

  /** The same for what answers at once. */
  touch(life: Life, name: string): void {
    if (life.dead) return;
    const effect = this.#name(life, name);
    this.#crashAt(life, effect, 'before');
    this.#stallAt(life, effect);
    this.#crashAt(life, effect, 'after');
  }

  #stallAt(life: Life, effect: string): void {
    if (this.stall?.replica === life.index && this.stall.effect === effect) this.stall.reached(life);
  }

  #name(life: Life, name: string): string {
    const key = `${life.index} ${name}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return `${name}#${count}`;
  }

  #crashAt(life: Life, effect: string, when: CrashPoint['when']): void {
    // The world is what has been done to it until now, the clock included; the memory of the dead is no part of it.
    this.#marks.push({
      replica: life.index,
      effect,
      when,
      state: `${this.#changes} @${this.#now()}`,
      atMs: this.#now(),
    });
    const point = this.#crashes.find(
      (each) => each.replica === life.index && each.effect === effect && each.when === when,
    );
    if (!point || life.dead) return;
    this.#hit.add(point);
    life.dead = true;
  }
}

function changed(name: string, value: { readonly value: unknown } | { readonly error: unknown }): boolean {
  if (name === 'store.claim') return 'value' in value && Array.isArray(value.value) && value.value.length > 0;
  return !LOOKS.test(name);
}

async function settled<Value>(act: () => Promise<Value>): Promise<{ value: Value } | { error: unknown }> {
  try {
    return { value: await act() };
  } catch (error) {
    return { error };
  }
}
