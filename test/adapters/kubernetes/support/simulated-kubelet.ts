import type { StreamControl, StreamEvents } from '../../../../src/adapters/kubernetes/api/stream.ts';
import type { LogClient } from '../../../../src/adapters/kubernetes/complete-log/log-stream.ts';
import { KdebugError } from '../../../../src/core/errors.ts';

/** What the runtime has written to a log file: one line, or a part of one (`P`, without a newline). */
interface FileRecord {
  readonly atMs: number;
  readonly stamp: string;
  readonly content: Buffer;
  readonly isPartial: boolean;
}

interface LogFile {
  readonly records: FileRecord[];
  bytes: number;
}

/** Readers take turns. */
const FAIR_SHARE = 500;

export interface KubeletOptions {
  /** The cluster's clock, in milliseconds. */
  readonly now: () => number;
  /** Numbers in [0, 1). */
  readonly random: () => number;
}

/**
 * A container's log on a node, and its readers, by the rules of the kubelet (cri-client pkg/logs, ReadLogs): a follow learns of a
 * rotation only once it has been at the end of its file, then jumps to the newest one; it ends at the end of its file
 * when the container has ended. A reader that is paused keeps the file that it has open.
 */
export class SimulatedKubelet implements LogClient {
  readonly serverClock: { now(): number };
  readonly #options: KubeletOptions;
  #files: LogFile[] = [{ records: [], bytes: 0 }];
  readonly #readers = new Set<Reader>();
  #serial = 0;
  #turn = 0;
  isRunning = true;
  /** Nothing is sent, and nothing breaks. */
  isStuck = false;
  /** The connections that there are now hear nothing more, for ever. */
  set isDeaf(isDeaf: boolean) {
    if (isDeaf) for (const reader of this.#readers) reader.isPaused = true;
  }
  /** All stamps of one millisecond are the same. */
  stampsRepeat = false;
  requests = 0;
  rotations = 0;
  /** Every byte that was written, in the order of the files: the truth. */
  readonly written: Buffer[] = [];
  /** At the end of its file a follow ends, cleanly, with these words: the node is out of inotify instances. */
  watchError: string | undefined;
  /** Every answer is these words and nothing else: the runtime has forgotten the container. */
  onlySays: string | undefined;
  /** Answers that the next openings get instead of a log. */
  readonly refusals: KdebugError[] = [];

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.serverClock = { now: options.now };
  }

  get files(): readonly LogFile[] {
    return this.#files;
  }

  get openReaders(): number {
    return this.#readers.size;
  }

  get newestFileBytes(): number {
    return this.#files.at(-1)?.bytes ?? 0;
  }

  /** `isPartial`: no newline follows. */
  write(content: string | Buffer, atMs = this.#options.now(), isPartial = false): void {
    if (!this.stampsRepeat) this.#serial += 1;
    const record = {
      atMs,
      stamp: stampOf(atMs, this.#serial),
      content: Buffer.concat([Buffer.from(content), Buffer.from(isPartial ? '' : '\n')]),
      isPartial,
    };
    const file = this.#files.at(-1)!;
    file.records.push(record);
    file.bytes += record.content.length + 40;
    this.written.push(record.content);
  }

  rotate(): void {
    this.rotations += 1;
    this.#files.push({ records: [], bytes: 0 });
    for (const reader of this.#readers) if (reader.isWatching) reader.recreated += 1;
  }

  /** Lets every reader that is not paused go on, at most `bytes` in all; returns what was sent. */
  serve(bytes: number): number {
    if (this.isStuck) return 0;
    let left = bytes;
    for (let before = left + 1; left > 0 && left < before; ) {
      before = left;
      const readers = [...this.#readers];
      this.#turn += 1;
      for (const reader of [
        ...readers.slice(this.#turn % (readers.length || 1)),
        ...readers.slice(0, this.#turn % (readers.length || 1)),
      ])
        left -= this.#serveOne(reader, Math.min(left, FAIR_SHARE));
    }
    return bytes - left;
  }

  /** Breaks every connection. */
  breakAll(): void {
    for (const reader of [...this.#readers])
      this.#finish(reader, new KdebugError('cluster_unreachable', { detail: 'ECONNRESET' }));
  }

  /** Ends every answer in good order in the middle, as the API server does when it loses the kubelet. */
  cutAll(): void {
    for (const reader of [...this.#readers]) this.#finish(reader, undefined);
  }

  stream(request: Parameters<LogClient['stream']>[0], events: StreamEvents): StreamControl {
    this.requests += 1;
    const refusal = this.refusals.shift();
    const { follow, sinceTime } = request.query ?? {};
    const reader: Reader = {
      events,
      follow: follow === 'true',
      sinceMs: sinceTime === undefined ? Number.NEGATIVE_INFINITY : Date.parse(sinceTime),
      file: this.#files.length - 1,
      record: 0,
      offset: 0,
      isLineStart: true,
      isWatching: false,
      recreated: 0,
      isPaused: false,
      isOpen: false,
    };
    if (refusal) queueMicrotask(() => events.ended(refusal));
    else this.#readers.add(reader);
    return {
      pause: () => {
        reader.isPaused = true;
      },
      resume: () => {
        reader.isPaused = false;
      },
      close: () => this.#finish(reader, undefined),
    };
  }

  #finish(reader: Reader, error: KdebugError | undefined): void {
    if (this.#readers.delete(reader)) reader.events.ended(error);
  }

  #serveOne(reader: Reader, most: number): number {
    if (!reader.isOpen) {
      reader.isOpen = true;
      reader.events.opened();
    }
    if (this.onlySays !== undefined) return this.#say(reader, this.onlySays);
    let sent = 0;
    while (sent < most && !reader.isPaused && this.#readers.has(reader)) {
      const bytes = this.#nextBytes(reader);
      if (bytes === undefined) break;
      if (bytes.length > 0) sent += this.#send(reader, bytes, most - sent);
    }
    return sent;
  }

  /** In pieces of any size: TCP knows nothing of lines. */
  #send(reader: Reader, bytes: Buffer, most: number): number {
    const length = Math.min(bytes.length - reader.offset, most, 1 + Math.floor(this.#options.random() * 200));
    const from = reader.offset;
    reader.offset += length;
    if (reader.offset === bytes.length) this.#advance(reader);
    reader.events.data(bytes.subarray(from, from + length));
    return length;
  }

  #say(reader: Reader, words: string): number {
    // Behind a piece of a line the words are found only when their beginning comes whole.
    const cut = reader.isLineStart ? 9 : 40;
    for (const half of [words.slice(0, cut), words.slice(cut)]) reader.events.data(Buffer.from(half));
    this.#finish(reader, undefined);
    return words.length;
  }

  #advance(reader: Reader): void {
    const record = this.#files[reader.file]!.records[reader.record]!;
    reader.isLineStart = !record.isPartial;
    reader.record += 1;
    reader.offset = 0;
  }

  /** What the reader sends next; empty when it only moved on; undefined when it waits or has ended. */
  #nextBytes(reader: Reader): Buffer | undefined {
    const record = this.#files[reader.file]!.records[reader.record];
    if (!record) return this.#atEndOfFile(reader);
    if (record.atMs < reader.sinceMs) {
      this.#advance(reader);
      return Buffer.alloc(0);
    }
    return reader.isLineStart ? Buffer.concat([Buffer.from(`${record.stamp} `), record.content]) : record.content;
  }

  #atEndOfFile(reader: Reader): Buffer | undefined {
    if (!reader.follow || !this.isRunning) {
      this.#finish(reader, undefined);
      return undefined;
    }
    if (!reader.isWatching && this.watchError !== undefined) {
      this.#say(reader, this.watchError);
      return undefined;
    }
    if (!reader.isWatching) {
      reader.isWatching = true;
      return undefined;
    }
    if (reader.recreated === 0) return undefined;
    reader.recreated -= 1;
    reader.file = this.#files.length - 1;
    reader.record = 0;
    return Buffer.alloc(0);
  }
}

interface Reader {
  readonly events: StreamEvents;
  readonly follow: boolean;
  readonly sinceMs: number;
  file: number;
  record: number;
  offset: number;
  isLineStart: boolean;
  /** It has been at the end of its file once, and hears of new ones from then on. */
  isWatching: boolean;
  recreated: number;
  isPaused: boolean;
  isOpen: boolean;
}

/** Nine digits; the last six make it unique. */
const stampOf = (atMs: number, serial: number): string =>
  `${new Date(Math.floor(atMs)).toISOString().slice(0, 23)}${String(serial % 1_000_000).padStart(6, '0')}Z`;
