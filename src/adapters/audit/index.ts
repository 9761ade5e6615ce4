import { auditKey, chainEvent } from '../../core/audit/chain.ts';
import { cleanAuditEvent } from '../../core/audit/record.ts';
import { KdebugError } from '../../core/errors.ts';
import type { AuditLog, Log, Metrics } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppendQueue, type RecordWriter } from './append-queue.ts';
import { AuditFile } from './audit-file.ts';
import { StdoutWriter } from './stdout-writer.ts';

export interface AuditLogOptions {
  readonly destination:
    | { readonly kind: 'file'; readonly path: string }
    /** `write` gets whole lines and throws when it fails; the default is standard output. */
    | { readonly kind: 'stdout'; readonly write?: (text: string) => void };
  /** The sealing key (`KDEBUG_KEY`); the log's key is derived from it. */
  readonly key: Uint8Array;
  /** Unique to this start among all starts of all replicas; letters, digits, `_`, `-` and dots. */
  readonly owner: string;
  readonly log: Log;
  readonly clock: Clock;
  /**
   * Removed wherever they appear in a record: tokens of the environment. Values shorter than 8 characters are ignored.
   */
  readonly secrets?: readonly string[];
  readonly metrics?: Pick<Metrics, 'auditFailed' | 'observe'>;
}

export interface OpenAuditLog extends AuditLog {
  /** Writes what waits and a last record, `end`. Later appends fail. */
  close(): Promise<void>;
}

/** A longer name loses its front: its end distinguishes starts. */
const MAX_CHAIN = 80;

/**
 * Opens the audit log and writes the first record of this start, `genesis`. Records keep the order of the calls, at
 * most 256 in a write. An append resolves when the operating system has the record, so the record survives the death of
 * the process. A file is flushed to its disk after each batch, before the next one.
 * @throws KdebugError audit_unavailable: it cannot be opened, has another writer, or differs from what its last writer
 * left
 */
export async function createAuditLog(options: AuditLogOptions): Promise<OpenAuditLog> {
  const { log, clock, metrics } = options;
  const secrets = (options.secrets ?? []).filter((secret) => secret.length >= 8);
  const writer = await openWriter(options);
  try {
    await writer.write([chainEvent('genesis', clock.now(), writer.opening)]);
    await writer.sync();
  } catch (error) {
    await writer.close();
    throw unavailable(error);
  }
  const queue = new AppendQueue(writer, log);
  metrics?.observe('queue_length', () => ({ audit: queue.length }));
  const end = async (): Promise<void> => {
    const written = queue.append(chainEvent('end', clock.now(), {}));
    await Promise.allSettled([written, queue.close()]);
    await writer.close();
  };
  let ending: Promise<void> | undefined;
  return {
    append: async (entry) => {
      try {
        await queue.append(cleanAuditEvent(entry, secrets));
      } catch (thrown) {
        metrics?.auditFailed();
        throw thrown;
      }
    },
    close: () => {
      ending ??= end();
      return ending;
    },
  };
}

async function openWriter({ destination, key, owner, log, clock }: AuditLogOptions): Promise<RecordWriter> {
  const chain = owner.replaceAll(/[^\w.-]/g, '-').slice(-MAX_CHAIN);
  const context = { key: auditKey(key), chain };
  if (destination.kind === 'stdout') return new StdoutWriter({ ...context, write: destination.write });
  try {
    return await AuditFile.open({ ...context, path: destination.path, log, clock });
  } catch (error) {
    throw unavailable(error);
  }
}

function unavailable(error: unknown): KdebugError {
  if (error instanceof KdebugError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new KdebugError('audit_unavailable', { detail, cause: error });
}
