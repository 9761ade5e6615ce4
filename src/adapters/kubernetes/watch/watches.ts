import { KdebugError } from '../../../core/errors.ts';
import { podsPath } from '../api/paths.ts';
import { NamespaceWatch, type WatchTools } from './namespace-watch.ts';

interface Entry {
  readonly watch: NamespaceWatch;
  usedAtMs: number;
}

/** The watches of one cluster, one per namespace: opened on first use, closed after a while without use. */
export class Watches {
  readonly #tools: WatchTools;
  readonly #entries = new Map<string, Entry>();
  #stopTimer: (() => void) | undefined;
  #closed = false;

  constructor(tools: WatchTools) {
    this.#tools = tools;
  }

  /** @throws KdebugError invalid_name, cluster_busy (more than `maxNamespaces` in use) */
  of(namespace: string): NamespaceWatch {
    podsPath(namespace);
    if (this.#closed) throw new KdebugError('cluster_unreachable', { detail: 'closed' });
    const entry = this.#entries.get(namespace) ?? this.#open(namespace);
    entry.usedAtMs = this.#tools.clock.elapsed();
    return entry.watch;
  }

  close(): void {
    this.#closed = true;
    this.#stopTimer?.();
    for (const { watch } of this.#entries.values()) watch.close();
    this.#entries.clear();
  }

  #open(namespace: string): Entry {
    if (this.#entries.size >= this.#tools.times.maxNamespaces) this.#closeIdle(0, 1);
    if (this.#entries.size >= this.#tools.times.maxNamespaces) {
      throw new KdebugError('cluster_busy', { detail: 'too many namespaces at once', facts: { retryAfterMs: 60_000 } });
    }
    const entry = { watch: new NamespaceWatch(this.#tools, namespace), usedAtMs: this.#tools.clock.elapsed() };
    this.#entries.set(namespace, entry);
    this.#sweepLater();
    return entry;
  }

  #sweepLater(): void {
    this.#stopTimer ??= this.#tools.clock.after(this.#tools.times.lingerMs, () => {
      this.#stopTimer = undefined;
      this.#closeIdle(this.#tools.times.lingerMs, this.#entries.size);
      if (this.#entries.size > 0) this.#sweepLater();
    });
  }

  /** Closes up to `most` watches without subscribers, unused for `idleMs`, the longest unused first. */
  #closeIdle(idleMs: number, most: number): void {
    const now = this.#tools.clock.elapsed();
    const idle = [...this.#entries]
      .filter(([, { watch, usedAtMs }]) => !watch.hasSubscribers && now - usedAtMs >= idleMs)
      .sort(([, a], [, b]) => a.usedAtMs - b.usedAtMs)
      .slice(0, most);
    for (const [namespace, { watch }] of idle) {
      watch.close();
      this.#entries.delete(namespace);
    }
  }
}
