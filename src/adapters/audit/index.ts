import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, writeFile } from 'node:fs/promises';
import { type AuditRecord, auditKey, type ChainHead, headOf, sealRecord } from '../../core/audit/chain.ts';
import { KdebugError } from '../../core/errors.ts';
import { createLogFilter } from '../../core/report/log/log-filter.ts';
import type { AuditEntry, AuditLog } from '../../flow/ports.ts';

export interface AuditOptions {
  /** A file of its own, or what writes a record into the own log. */
  readonly destination:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'log'; readonly write: (record: AuditRecord) => void };
  /** KDEBUG_KEY; the chain's own key is derived from it. */
  readonly key: Uint8Array;
}

/** Records that may wait for the disk; more are refused, and so is what they would record. */
const MOST_WAITING = 10_000;
const LONGEST_FACT = 2_000;

/**
 * Keeps records in a chain of this process' own, in order. A file is created with mode 0600 and only ever appended to; processes
 * may share it, each with its own chain and its own head file (`PATH.CHAIN.head`, replaced after every write). A record is kept
 * when `append` resolves: handed to the operating system, not yet flushed to the disk. Do not rotate a file under its writer.
 */
export class ChainedAuditLog implements AuditLog {
  readonly #options: AuditOptions;
  readonly #key: Uint8Array;
  readonly #chain = randomBytes(8).toString('hex');
  #file: FileHandle | undefined;
  #seq = 0;
  #prev = '';
  #waiting = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#key = auditKey(options.key);
  }

  append(entry: AuditEntry): Promise<void> {
    if (this.#waiting >= MOST_WAITING)
      return Promise.reject(new KdebugError('audit_unavailable', { detail: 'too many records wait' }));
    this.#waiting += 1;
    const mine = this.#turn
      .then(() => this.#write(entry))
      .finally(() => {
        this.#waiting -= 1;
      });
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#file?.close();
    this.#file = undefined;
  }

  async #write(entry: AuditEntry): Promise<void> {
    try {
      if (this.#seq === 0) await this.#keep({ ...NOBODY, atMs: entry.atMs, step: 'chain' });
      await this.#keep(entry);
    } catch (cause) {
      throw new KdebugError('audit_unavailable', { cause });
    }
  }

  async #keep(entry: Omit<AuditEntry, 'step'> & { readonly step: string }): Promise<void> {
    const record = sealRecord(
      {
        v: 1,
        chain: this.#chain,
        seq: this.#seq,
        at: new Date(entry.atMs).toISOString(),
        step: entry.step,
        run: entry.runId,
        channel: entry.channelId,
        actor: entry.actorId,
        facts: factsOf(entry.facts),
        prev: this.#prev,
      },
      this.#key,
    );
    const { destination } = this.#options;
    if (destination.kind === 'log') destination.write(record);
    else await this.#toFile(destination.path, record);
    this.#seq += 1;
    this.#prev = record.mac;
  }

  async #toFile(path: string, record: AuditRecord): Promise<void> {
    this.#file ??= await openForAppend(path);
    await this.#file.appendFile(`${JSON.stringify(record)}\n`);
    await writeHead(path, headOf(record, this.#key));
  }
}

const NOBODY = { runId: '', channelId: '', actorId: '', facts: {} };

/** A line that a crash tore is ended, so that only that one is lost; the check tells it. */
async function openForAppend(path: string): Promise<FileHandle> {
  const file = await open(path, 'a+', 0o600);
  const { size } = await file.stat();
  const last = Buffer.alloc(1);
  if (size > 0) await file.read(last, 0, 1, size - 1);
  if (size > 0 && last[0] !== 0x0a) await file.appendFile('\n');
  return file;
}

async function writeHead(path: string, head: ChainHead): Promise<void> {
  const place = `${path}.${head.chain}.head`;
  await writeFile(`${place}.new`, JSON.stringify(head), { mode: 0o600 });
  await rename(`${place}.new`, place);
}

/** Bounded, and without what looks like a secret: a person may have typed one. */
function factsOf(facts: AuditEntry['facts']): AuditRecord['facts'] {
  const kept = Object.entries(facts).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[name, typeof value === 'string' ? withoutSecrets(value.slice(0, LONGEST_FACT)) : value] as const];
  });
  return Object.fromEntries(kept);
}

function withoutSecrets(text: string): string {
  const filter = createLogFilter({ redact: [] });
  return Buffer.concat([filter.push(Buffer.from(text)), filter.end()]).toString('utf8');
}
