import type { RunId } from '../../core/ids.ts';
import type { Notes } from '../../flow/ports/store.ts';

const KEPT = 100;

/** Notes in this process' memory. Bounded: 100 a run, and a run's notes go when they are taken. */
export class MemoryNotes implements Notes {
  readonly #notes = new Map<RunId, readonly string[]>();

  async leave(id: RunId, note: string): Promise<void> {
    this.#notes.set(id, [...(this.#notes.get(id) ?? []), note].slice(-KEPT));
  }

  async take(id: RunId): Promise<readonly string[]> {
    const notes = this.#notes.get(id) ?? [];
    this.#notes.delete(id);
    return notes;
  }
}
