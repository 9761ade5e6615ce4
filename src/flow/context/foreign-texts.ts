import { redactForeignWords, redactSteps } from '../../core/redact/redact-text.ts';
import { inTurns, type OwnTurns } from '../../lib/turns.ts';

type Patterns = readonly string[];

/** What a text is shown as. */
export type Safe = (text: string) => string;

type View<Part> = (part: Part, safe: Safe) => Part;

/** Characters of the texts that are remembered; when there are more, all are forgotten. */
const MAX_KNOWN_LENGTH = 2 * 1024 * 1024;
/** Read at once: the words of a command make sense together. */
const MAX_COMMAND_LENGTH = 16 * 1024;

/** The only way from what others wrote in a cluster to what the flow sees: each text passes the filter of logs, in turns of the event loop. */
export class ForeignTexts {
  readonly #patterns: () => Patterns;
  readonly #turns: OwnTurns;
  #redact: Patterns = [];
  #parts = new WeakMap<object, WeakMap<object, object>>();
  #texts = new Map<string, string>();
  #length = 0;

  /** `patterns`: the policy's, now. */
  constructor(patterns: () => Patterns, turns: OwnTurns) {
    this.#patterns = patterns;
    this.#turns = turns;
  }

  /**
   * The part as `view` shows it. `view` must be pure: it is called until it asks for no text that is not filtered yet, and its last
   * result counts. The same part is viewed by it once for each list of patterns: watches and shared lists give the same ones again
   * and again.
   */
  async of<Part extends object>(part: Part, view: View<Part>): Promise<Part> {
    const redact = this.#patterns();
    if (redact !== this.#redact) this.#forget(redact);
    const parts = this.#parts.get(view) ?? new WeakMap<object, object>();
    this.#parts.set(view, parts);
    const known = parts.get(part) as Part | undefined;
    if (known !== undefined) return known;
    await this.#turns.step();
    const texts = this.#texts;
    const own = new Map<string, string>();
    for (;;) {
      const unknown = new Set<string>();
      const viewed = view(part, (text) => {
        const safe = text === '' ? '' : (own.get(text) ?? texts.get(text));
        if (safe === undefined) unknown.add(text);
        return safe ?? text;
      });
      if (unknown.size === 0) {
        parts.set(part, viewed);
        return viewed;
      }
      for (const text of unknown) own.set(text, await inTurns(redactSteps(text, redact), this.#turns));
      if (texts === this.#texts) this.#remember(own);
    }
  }

  /** As `of`, of each in turn. */
  async all<Part extends object>(parts: readonly Part[], view: View<Part>): Promise<readonly Part[]> {
    const viewed: Part[] = [];
    for (const part of parts) viewed.push(await this.of(part, view));
    return viewed;
  }

  text(text: string): Promise<string> {
    return inTurns(redactSteps(text, this.#patterns()), this.#turns);
  }

  /** Words of a command. Of one that is too long for anybody to read, none is shown. */
  words(given: readonly string[]): readonly string[] {
    if (given.join(' ').length > MAX_COMMAND_LENGTH) return given.map(() => '[redacted:long]');
    return redactForeignWords(given, this.#patterns());
  }

  #remember(own: ReadonlyMap<string, string>): void {
    for (const [text, safe] of own) {
      if (!this.#texts.has(text)) this.#length += text.length + safe.length;
      this.#texts.set(text, safe);
    }
    if (this.#length > MAX_KNOWN_LENGTH) this.#texts = new Map();
    if (this.#texts.size === 0) this.#length = 0;
  }

  #forget(redact: Patterns): void {
    this.#redact = redact;
    this.#parts = new WeakMap();
    this.#texts = new Map();
    this.#length = 0;
  }
}
