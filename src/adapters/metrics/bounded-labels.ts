import type { Definition } from './definitions.ts';

/** An open label takes this many different words. */
const MAX_WORDS = 100;
/** Error words, method names, versions and hashes look like this; a sentence or an address of a person does not. */
const PLAIN_WORD = /^[A-Za-z0-9_.+-]{1,80}$/;
const OTHER = 'other';

/**
 * Keeps the series of one metric few: a value outside the closed list of its label, a strange one, or one too many
 * becomes `other`.
 */
export class BoundedLabels {
  readonly #labels: NonNullable<Definition['labels']>;
  readonly #known = new Map<string, Set<string>>();

  constructor({ labels = {} }: Definition) {
    this.#labels = labels;
  }

  of(values: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(Object.entries(values).map(([label, value]) => [label, this.#bounded(label, value)]));
  }

  #bounded(label: string, value: string): string {
    const allowed = this.#labels[label] ?? [];
    if (allowed !== 'open') return allowed.includes(value) ? value : OTHER;
    const known = this.#known.get(label) ?? new Set();
    this.#known.set(label, known);
    if (known.has(value)) return value;
    if (known.size >= MAX_WORDS || !PLAIN_WORD.test(value)) return OTHER;
    known.add(value);
    return value;
  }
}
