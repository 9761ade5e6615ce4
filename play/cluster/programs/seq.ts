import type { Process, Program } from './process.ts';

/** Bytes made before the event loop gets a turn. */
const CHUNK_BYTES = 64 * 1024;

interface Job {
  readonly first: number;
  readonly step: number;
  readonly last: number;
  readonly width: number;
  readonly separator: string;
  /** Lines a second; absent: as fast as it goes. */
  readonly rate?: number;
}

/**
 * `seq [-w] [-s SEP] [-r LINES-PER-SECOND] [FIRST [STEP]] LAST`: the local cluster's fast and its paced writer
 * (`-r` is its own; a real seq does not have it).
 */
export const seq: Program = async (process) => {
  const job = jobOf(process.argv.slice(1));
  if (!job) {
    process.write(`seq: invalid number\n`);
    return 1;
  }
  const pace = new Pace(process, job.rate);
  let next = job.first;
  while (next <= job.last && !process.signal.aborted) {
    const { text, lines, after } = chunkFrom(job, next, pace.allowance());
    process.write(Buffer.from(text));
    next = after;
    await pace.rest(lines);
  }
  return process.signal.aborted ? 137 : 0;
};

function wordsOf(words: readonly string[]): { options: Map<string, string>; numbers: string[] } {
  const options = new Map<string, string>();
  const numbers: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '-w') options.set('-w', '');
    else if (word === '-s' || word === '-r') {
      at += 1;
      options.set(word, words[at] ?? '');
    } else numbers.push(word);
  }
  return { options, numbers };
}

function jobOf(words: readonly string[]): Job | undefined {
  const { options, numbers } = wordsOf(words);
  if (numbers.length === 0 || numbers.length > 3 || numbers.some((word) => !/^-?\d+$/.test(word))) return undefined;
  const [first, step, last] =
    numbers.length === 1 ? [1, 1, numbers[0]] : numbers.length === 2 ? [numbers[0], 1, numbers[1]] : numbers;
  const width = options.has('-w') ? Math.max(...numbers.map((word) => word.length)) : 0;
  const rate = Number(options.get('-r') ?? 0);
  return {
    first: Number(first),
    step: Math.max(1, Number(step)),
    last: Number(last),
    width,
    separator: options.get('-s') ?? '\n',
    ...(rate > 0 ? { rate } : {}),
  };
}

function chunkFrom(job: Job, from: number, maxLines: number): { text: string; lines: number; after: number } {
  const parts: string[] = [];
  let bytes = 0;
  let next = from;
  while (next <= job.last && bytes < CHUNK_BYTES && parts.length < maxLines) {
    const number = job.width > 0 ? String(next).padStart(job.width, '0') : String(next);
    const part = number + (next + job.step <= job.last ? job.separator : '\n');
    parts.push(part);
    bytes += part.length;
    next += job.step;
  }
  return { text: parts.join(''), lines: parts.length, after: next };
}

/** Keeps to a rate by sleeping about every tenth of a second; without one only lets others have a turn. */
class Pace {
  readonly #process: Process;
  readonly #rate: number | undefined;

  constructor(process: Process, rate: number | undefined) {
    this.#process = process;
    this.#rate = rate;
  }

  allowance(): number {
    return this.#rate === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.ceil(this.#rate / 10));
  }

  async rest(lines: number): Promise<void> {
    if (this.#rate === undefined) await new Promise((resolve) => setImmediate(resolve));
    else await this.#process.sleep((lines / this.#rate) * 1000);
  }
}
