import { StringDecoder } from 'node:string_decoder';
import { KdebugError } from '../../core/errors.ts';
import type { StampedLine, TargetLogRequest } from '../../flow/ports/cluster.ts';
import type { OwnTurns } from '../../lib/turns.ts';
import type { ApiClient } from './api/api-client.ts';
import { checkedContainer, podPath } from './api/paths.ts';
import { type Stamp, toMs } from './complete-log/line-identity.ts';
import { type LineDecision, type LineHandler, LineReader } from './complete-log/line-reader.ts';

type Client = Pick<ApiClient, 'stream'>;

const MAX_LINE_BYTES = 16 * 1024;
/** The newest lines come last, so a log of long lines is read on beyond `limitBytes`: this many times as far, at least 4 MiB. */
const READ_TIMES = 16;
const MIN_READ_BYTES = 4 * 1024 * 1024;
interface LogTools {
  readonly client: Client;
  readonly turns: OwnTurns;
}

/**
 * The newest `tailLines` lines, of these the newest `limitBytes`, given out in turns of the event loop after the last of them has
 * arrived. None after `signal`. A limit at the API server would keep the oldest. Lines over 16 KiB are cut after a word.
 * @throws KdebugError pod_not_found; log_unavailable for a log that the node could not read to its end; and as the Cluster port says
 */
export async function readTargetLog(
  { client, turns }: LogTools,
  request: TargetLogRequest,
  onLine: (line: StampedLine) => void,
): Promise<void> {
  for (const line of await newestLines(client, request)) {
    await turns.step();
    if (request.signal.aborted) return;
    onLine({ atMs: line.atMs, text: textOf(line) });
  }
}

/**
 * Of a line that was cut without its last word: half a secret has no shape that anybody recognises. Without a space it is one word,
 * and says nothing.
 */
function textOf({ bytes, isCut }: HeldLine): string {
  const text = new StringDecoder('utf8').write(bytes);
  return isCut ? text.slice(0, Math.max(0, text.lastIndexOf(' '))) : text;
}

async function newestLines(client: Client, request: TargetLogRequest): Promise<readonly HeldLine[]> {
  const { limitBytes, signal } = request;
  const newest = new NewestLines(limitBytes);
  const reader = new LineReader({ mayBeginWithin: false });
  const maxReadBytes = Math.max(READ_TIMES * limitBytes, MIN_READ_BYTES);
  let readBytes = 0;
  const error = await readStream(client, request, (chunk) => {
    readBytes += chunk.length;
    return readBytes <= maxReadBytes && reader.read(chunk, newest);
  });
  if (signal.aborted || (error && isWithoutLog(error))) return [];
  if (error) throw error;
  if (readBytes > maxReadBytes) throw unavailable('its newest lines are too long');
  reader.finish(newest);
  const failure = reader.nodeError ?? newest.unstamped;
  if (failure !== undefined) throw unavailable(failure);
  return newest.lines();
}

/** Reads until the end, an abort, or `onChunk` is false. Resolves with the error that ended it. */
async function readStream(
  client: Client,
  { pod, containerName, previous, tailLines, signal, actingAs }: TargetLogRequest,
  onChunk: (chunk: Buffer) => boolean,
): Promise<KdebugError | undefined> {
  const path = `${podPath(pod.namespace, pod.name)}/log`;
  const query = {
    container: checkedContainer(containerName),
    timestamps: 'true',
    tailLines: String(tailLines),
    previous: previous ? 'true' : undefined,
  };
  if (signal.aborted) return undefined;
  let stop: (() => void) | undefined;
  const error = await new Promise<KdebugError | undefined>((resolve) => {
    const control = client.stream(
      { path, query, actingAs },
      {
        opened: () => undefined,
        data: (chunk) => {
          if (!onChunk(chunk)) control.close();
        },
        ended: resolve,
      },
    );
    stop = () => control.close();
    signal.addEventListener('abort', stop, { once: true });
  });
  if (stop) signal.removeEventListener('abort', stop);
  return error;
}

const unavailable = (detail: string): KdebugError =>
  new KdebugError('log_unavailable', { detail: detail.slice(0, 1_000) });

/**
 * The API server's 400 for a container that has not begun, or whose last incarnation left nothing, as against one for
 * a name that is not there. Only the words differ.
 */
const isWithoutLog = ({ facts, detail }: KdebugError): boolean =>
  facts.status === 400 &&
  /^previous terminated container .* not found$|is waiting to start\b|is not available$|does not have a host assigned$/.test(
    detail,
  );

interface HeldLine {
  readonly atMs: number;
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

/** The last lines of what it is given, in at most `limitBytes`. */
class NewestLines implements LineHandler {
  readonly #limitBytes: number;
  #held: HeldLine[] = [];
  /** Before this index nothing is kept any more. */
  #first = 0;
  #bytes = 0;
  #open: { readonly atMs: number; readonly pieces: Buffer[]; length: number; isCut: boolean } | undefined;
  #unstamped: string | undefined;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Text in place of a log: every line of one has a stamp. */
  get unstamped(): string | undefined {
    return this.#unstamped;
  }

  lines(): readonly HeldLine[] {
    if (this.#open) this.end();
    return this.#held.slice(this.#first);
  }

  begin(stamp: Stamp | undefined, bytes: Buffer, from: number, to: number): LineDecision {
    if (!stamp) {
      this.#unstamped ??= bytes.toString('utf8', from, to);
      return 'skip';
    }
    this.#open = { atMs: toMs(stamp), pieces: [], length: 0, isCut: false };
    return 'deliver';
  }

  content(bytes: Buffer, from: number, to: number): void {
    const open = this.#open;
    if (!open) return;
    const end = Math.min(to, from + MAX_LINE_BYTES - open.length);
    open.isCut ||= end < to;
    if (end <= from) return;
    // A copy: the slice would keep the whole chunk in memory.
    open.pieces.push(Buffer.from(bytes.subarray(from, end)));
    open.length += end - from;
  }

  end(): boolean {
    if (!this.#open) return true;
    const { atMs, pieces, length, isCut } = this.#open;
    this.#open = undefined;
    this.#held.push({ atMs, bytes: Buffer.concat(pieces), isCut });
    this.#bytes += length;
    while (this.#bytes > this.#limitBytes) this.#dropFirst();
    return true;
  }

  #dropFirst(): void {
    this.#bytes -= this.#held[this.#first]?.bytes.length ?? 0;
    this.#first += 1;
    if (this.#first < 1_000) return;
    this.#held = this.#held.slice(this.#first);
    this.#first = 0;
  }
}
