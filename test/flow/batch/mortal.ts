import type { FlowDeps } from '../../../src/flow/context/deps.ts';

/** Where a process dies: at its n-th effect on the world, before or after it happened. */
export interface Death {
  readonly at: number;
  readonly when: 'before' | 'after';
}

const NEVER = new Promise<never>(() => {});
const PORTS = ['store', 'thread', 'audit'] as const;
/** Calls that change something outside. */
const EFFECTS: ReadonlySet<string> = new Set([
  'create',
  'save',
  'release',
  'post',
  'update',
  'share',
  'append',
  'launch',
]);

/**
 * One process' view of the world. Once it is dead nothing it does reaches the world, and nothing wakes it. While it sleeps (a
 * long pause of its machine) everything waits, and comes at once when it wakes.
 */
export class Mortal {
  readonly deps: FlowDeps;
  readonly #death: Death | undefined;
  isDead = false;
  #asleep: (() => void)[] | undefined;
  effects = 0;

  constructor(deps: FlowDeps, death?: Death) {
    this.#death = death;
    const { clock, clusters } = deps;
    const cluster = this.#wrap(clusters.get('prod'));
    this.deps = {
      ...deps,
      ...Object.fromEntries(PORTS.map((port) => [port, this.#wrap(deps[port])])),
      clusters: {
        get: () => ({
          ...cluster,
          watch: (pod, onSeen) => clusters.get('prod').watch(pod, (seen) => this.#whenAwake(() => onSeen(seen))),
        }),
      },
      clock: {
        now: () => clock.now(),
        elapsed: () => clock.elapsed(),
        after: (ms, wake) => clock.after(ms, () => this.#whenAwake(wake)),
      },
    };
  }

  die(): void {
    this.isDead = true;
  }

  sleep(): void {
    this.#asleep ??= [];
  }

  wake(): void {
    const waiting = this.#asleep ?? [];
    this.#asleep = undefined;
    for (const act of waiting) act();
  }

  #whenAwake(act: () => void): void {
    if (this.isDead) return;
    if (this.#asleep) this.#asleep.push(act);
    else act();
  }

  #wrap<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => this.#call(String(name), () => method.apply(target, args));
      },
      ownKeys: (target) => [
        ...Reflect.ownKeys(target),
        ...Object.getOwnPropertyNames(Object.getPrototypeOf(target)).filter((name) => name !== 'constructor'),
      ],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    });
  }

  #call(name: string, act: () => unknown): unknown {
    if (this.isDead) return NEVER;
    if (this.#asleep) {
      return new Promise((resolve, reject) => {
        this.#asleep?.push(() => Promise.resolve(this.#call(name, act)).then(resolve, reject));
      });
    }
    if (!EFFECTS.has(name)) return act();
    this.effects += 1;
    if (this.#death?.at !== this.effects) return act();
    this.die();
    if (this.#death.when === 'after') void Promise.resolve(act()).catch(() => undefined);
    return NEVER;
  }
}
