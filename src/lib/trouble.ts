import type { Clock } from './clock.ts';

type Fields = Readonly<Record<string, unknown>>;

interface TroubleLog {
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

/** The two lines of one kind of trouble. Static, so that one can grep them. */
export interface TroubleLines {
  readonly begins: string;
  readonly ends: string;
  /** Of the first line; default `warn`. */
  readonly level?: 'warn' | 'error';
}

/**
 * A trouble that lasts: something fails again and again, and then works. Logs one line when it begins and one when it
 * ends, however often it fails between them. The last line has the fields of the first one, `lastedMs`, and how often
 * it failed (`failures`).
 */
export class Trouble {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #log: TroubleLog;
  readonly #lines: TroubleLines;
  #begun: { readonly atMs: number; readonly fields: Fields } | undefined;
  #failures = 0;

  constructor(
    { clock, log }: { readonly clock: Pick<Clock, 'elapsed'>; readonly log: TroubleLog },
    lines: TroubleLines,
  ) {
    this.#clock = clock;
    this.#log = log;
    this.#lines = lines;
  }

  get isOn(): boolean {
    return this.#begun !== undefined;
  }

  /** Call at every failure. Only the first one of a trouble is logged. */
  failed(fields: Fields = {}): void {
    this.#failures += 1;
    if (this.#begun) return;
    this.#begun = { atMs: this.#clock.elapsed(), fields };
    this.#log[this.#lines.level ?? 'warn'](this.#lines.begins, fields);
  }

  /** Call at every success. Nothing happens unless a trouble has begun. */
  worked(): void {
    if (!this.#begun) return;
    const { atMs, fields } = this.#begun;
    const failures = this.#failures;
    this.#begun = undefined;
    this.#failures = 0;
    this.#log.info(this.#lines.ends, { ...fields, lastedMs: this.#clock.elapsed() - atMs, failures });
  }
}
