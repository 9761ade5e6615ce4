import type { RunId } from '../../../core/ids.ts';
import type { Notes } from '../../../flow/ports/store.ts';
import type { Records } from './records.ts';
import type { ScriptRunner } from './script-runner.ts';
import { LEAVE_NOTE, TAKE_NOTES } from './scripts/notes.ts';

const about = (id: RunId): string => `note ${id}`;

/** Notes in Redis, sealed; one that does not open is none. */
export class RedisNotes implements Notes {
  readonly #scripts: ScriptRunner;
  readonly #records: Records;

  constructor(scripts: ScriptRunner, records: Records) {
    this.#scripts = scripts;
    this.#records = records;
  }

  async leave(id: RunId, note: string): Promise<void> {
    await this.#scripts.run(LEAVE_NOTE, [`notes:${id}`], [this.#records.sealText(note, about(id))]);
  }

  async take(id: RunId): Promise<readonly string[]> {
    const { rest } = await this.#scripts.run(TAKE_NOTES, [`notes:${id}`], []);
    return rest.flatMap((sealed) => this.#records.openText(String(sealed), about(id)) ?? []);
  }
}
