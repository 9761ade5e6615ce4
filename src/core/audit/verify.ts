import { defined } from '../../lib/object.ts';
import { sha256 } from '../hash.ts';
import { formatLink, type Link, openRecord } from './chain.ts';
import { fromLogLine, type Line } from './lines.ts';
import { type AuditRecord, MAX_LINE_BYTES } from './record.ts';

export interface VerifyOptions {
  /** `auditKey` of the key that the log was written with. */
  readonly key: Uint8Array;
  /** `file`: only records, every chain linked to the one before. `stream`: the logs of any number of processes. */
  readonly form: 'file' | 'stream';
  /** The link to start at; absent: the start of the file. */
  readonly from?: Link;
  /** Records that must be there: heads, signed or noted elsewhere. */
  readonly mustHold?: readonly Link[];
}

/** The first defect; nothing after it was checked. */
export interface AuditDefect {
  /** From 1; undefined for a defect at the end. */
  readonly line?: number;
  readonly problem:
    | 'changed'
    | 'not-a-record'
    | 'missing'
    | 'out-of-place'
    | 'cut-off'
    | 'old-head'
    | 'no-head'
    | 'nothing';
  readonly text: string;
}

export interface VerifyResult {
  readonly defect?: AuditDefect;
  /** The end of the last line that was read. */
  readonly bytes: number;
  readonly records: number;
  readonly runs: number;
  readonly chains: number;
  readonly firstAt?: string;
  readonly lastAt?: string;
  /** The last record of every chain that may continue: heads to note down. */
  readonly heads: readonly Link[];
  /** Facts that prove no defect, but that the reader must know. */
  readonly notes: readonly string[];
}

interface Chain {
  readonly link: Link;
  readonly ended: boolean;
}

interface Suspect {
  readonly defect: AuditDefect;
  readonly hash: string;
}

/** Checks records one by one. Memory grows only by some tens of bytes per run and chain. */
export class ChainVerifier {
  readonly #options: VerifyOptions;
  /** In a file only the newest chain can continue. */
  readonly #chains = new Map<string, Chain>();
  readonly #missing: Set<string>;
  readonly #runs = new Set<string>();
  readonly #notes: string[] = [];
  #suspect: Suspect | undefined;
  #defect: AuditDefect | undefined;
  #line = 0;
  #bytes = 0;
  #records = 0;
  #started = 0;
  #firstAt: string | undefined;
  #lastAt: string | undefined;

  constructor(options: VerifyOptions) {
    this.#options = options;
    this.#missing = new Set(options.mustHold?.map(formatLink));
    if (options.from) this.#advance(options.from, false);
  }

  /** @returns false after the first defect: the rest need not be read */
  check(line: Line): boolean {
    if (this.#defect !== undefined) return false;
    this.#line += 1;
    this.#bytes = line.end;
    if (this.#options.form === 'file' && !line.terminated) {
      this.#notes.push(
        `line ${this.#line} is not whole (${line.bytes.length} bytes): it is being written, or its writer died; the next start records that in the log`,
      );
      return true;
    }
    const bytes = this.#options.form === 'file' ? line.bytes : fromLogLine(line.bytes);
    if (bytes !== undefined) this.#defect = this.#judge(bytes);
    return this.#defect === undefined;
  }

  finish(): VerifyResult {
    const defect = this.#defect ?? this.#suspect?.defect ?? this.#atEnd();
    return {
      ...defined({ defect }),
      bytes: this.#bytes,
      records: this.#records,
      runs: this.#runs.size,
      chains: this.#started,
      ...defined({ firstAt: this.#firstAt, lastAt: this.#lastAt }),
      heads: [...this.#chains.values()].map(({ link }) => link),
      notes: [...this.#notes, ...this.#unended()],
    };
  }

  #judge(bytes: Buffer | 'broken'): AuditDefect | undefined {
    const opened = bytes === 'broken' ? ({ kind: 'unsigned' } as const) : openRecord(this.#options.key, bytes);
    if (opened.kind === 'genuine') return this.#accept(opened.record);
    if (this.#suspect !== undefined) return this.#suspect.defect;
    const defect =
      opened.kind === 'changed'
        ? this.#at('changed', 'this record was changed, or the key is not the one that it was written with')
        : this.#at('not-a-record', 'this is not a record of the audit log: it was changed or put in');
    const healable = bytes !== 'broken' && this.#options.form === 'file' && bytes.length <= MAX_LINE_BYTES;
    if (!healable) return defect;
    // A writer may have died here; the next line shows it.
    this.#suspect = { defect, hash: sha256(bytes) };
    return undefined;
  }

  #accept(record: AuditRecord): AuditDefect | undefined {
    const misplaced = record.step === 'genesis' ? this.#misplacedGenesis(record) : this.#misplaced(record);
    if (misplaced !== undefined) return this.#suspect?.defect ?? misplaced;
    if (this.#suspect !== undefined) {
      this.#notes.push(`line ${this.#line - 1} is not whole: its writer died in it, as the start after it recorded`);
    }
    this.#suspect = undefined;
    this.#advance({ chain: record.chain, seq: record.seq, mac: record.mac }, record.step === 'end');
    this.#count(record);
    return undefined;
  }

  #misplacedGenesis({ chain, seq, prev, facts }: AuditRecord): AuditDefect | undefined {
    const { form } = this.#options;
    if (facts.destination !== (form === 'file' ? 'file' : 'stdout')) {
      return this.#at('out-of-place', `chain ${chain} was written to ${facts.destination}, not to what is read here`);
    }
    const before = form === 'file' ? (this.#newest()?.link.mac ?? '') : '';
    if (seq !== 0 || prev !== before || this.#chains.has(chain)) {
      return this.#at(
        prev === '' ? 'out-of-place' : 'missing',
        `chain ${chain} starts here, but not where it did: somebody removed or inserted records before it, or moved it`,
      );
    }
    if (facts.torn === this.#suspect?.hash) return undefined;
    return this.#at('missing', `chain ${chain} reports an incomplete line before its start, and that line is missing`);
  }

  #misplaced({ chain, seq, prev }: AuditRecord): AuditDefect | undefined {
    const before = this.#options.form === 'file' ? this.#newest() : this.#chains.get(chain);
    const here = `record ${seq} of chain ${chain}`;
    if (before === undefined) return this.#at('missing', `${here} is the first: what stood before it is missing`);
    const { link, ended } = before;
    const next = link.seq + 1;
    if (chain !== link.chain) {
      return this.#at(
        'out-of-place',
        `${here} stands within chain ${link.chain}: records were removed, moved or put in`,
      );
    }
    if (seq > next)
      return this.#at('missing', `${here} follows record ${link.seq}: ${missing(next, seq - 1)} missing here`);
    if (seq < next || prev !== link.mac || ended || this.#suspect !== undefined) {
      return this.#at('out-of-place', `${here} stands after record ${link.seq}: it was moved, or put in again`);
    }
    return undefined;
  }

  #advance(link: Link, ended: boolean): void {
    if (this.#options.form === 'file') this.#chains.clear();
    this.#chains.set(link.chain, { link, ended });
    this.#missing.delete(formatLink(link));
  }

  #count({ at, run, step }: AuditRecord): void {
    this.#records += 1;
    if (step === 'genesis') this.#started += 1;
    if (run !== '') this.#runs.add(run);
    this.#firstAt ??= at;
    this.#lastAt = at;
  }

  #newest(): Chain | undefined {
    return this.#chains.values().next().value;
  }

  #atEnd(): AuditDefect | undefined {
    const [lost] = this.#missing;
    if (lost !== undefined) {
      const [chain, seq] = lost.split(':');
      return {
        problem: 'cut-off',
        text: `the log must hold record ${seq} of chain ${chain}, and does not: its end was cut off`,
      };
    }
    if (this.#records > 0 || this.#options.from) return undefined;
    return { problem: 'nothing', text: 'there is no audit record here' };
  }

  #unended(): readonly string[] {
    if (this.#options.form === 'file') return [];
    return [...this.#chains.values()]
      .filter(({ ended }) => !ended)
      .map(
        ({ link: { chain, seq } }) =>
          `chain ${chain} has no end after record ${seq}: its process still runs, or was killed, or records were cut off`,
      );
  }

  #at(problem: AuditDefect['problem'], text: string): AuditDefect {
    return { line: this.#line, problem, text };
  }
}

const missing = (first: number, last: number): string =>
  first === last ? `record ${first} is` : `records ${first} to ${last} are`;

/** Checks all lines, one at a time. */
export async function verifyChain(
  lines: Iterable<Line> | AsyncIterable<Line>,
  options: VerifyOptions,
): Promise<VerifyResult> {
  const verifier = new ChainVerifier(options);
  for await (const line of lines) if (!verifier.check(line)) break;
  return verifier.finish();
}
