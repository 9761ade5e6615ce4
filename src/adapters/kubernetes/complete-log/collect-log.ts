import type { LogCompleteness } from '../../../core/run/run.ts';
import type { LogRequest, LogSink } from '../../../flow/ports/cluster.ts';
import { Handover } from './handover.ts';
import { LineMerger } from './line-merger.ts';
import { BlockWriter } from './log-output.ts';
import { type LogStream, StreamCursor } from './log-stream.ts';
import type { LogTools } from './log-streams.ts';

/**
 * Reads one container's log to its last line, across rotations (README.md). Memory: about 1 MiB for the front, 64 KiB
 * for each waiting stream, up to 6 MiB for the identities of recent lines, and up to 10 MiB more while a stream may
 * repeat some of them. Cluster failures end up in the result; errors of the sink propagate.
 */
export async function collectLog(tools: LogTools, request: LogRequest, sink: LogSink): Promise<LogCompleteness> {
  return new LogCollection(tools, request, sink).run();
}

/** Reads the front and writes to the sink in a loop. When there is nothing to read, the handover decides. */
class LogCollection {
  readonly #tools: LogTools;
  readonly #request: LogRequest;
  readonly #sink: LogSink;
  readonly #changed = new Signal();
  readonly #output: BlockWriter;
  readonly #merger: LineMerger;
  readonly #handover: Handover;
  #cursor: StreamCursor | undefined;
  /** The loop waits for the front, not for the sink. */
  #isIdle = false;
  #stopTicking: () => void = () => {};

  constructor(tools: LogTools, request: LogRequest, sink: LogSink) {
    this.#tools = tools;
    this.#request = request;
    this.#sink = sink;
    this.#output = new BlockWriter(request.limitBytes, request.sinceMs);
    this.#merger = new LineMerger(this.#output, tools.times);
    this.#handover = new Handover(tools, request, {
      merger: this.#merger,
      changed: this.#changed.raise,
      finishReading: () => {
        this.#cursor?.finish();
        return this.#cursor;
      },
    });
  }

  async run(): Promise<LogCompleteness> {
    const { ended, signal, terminated } = this.#request;
    const onEnded = (): void => {
      this.#handover.containerEnded();
      this.#changed.raise();
    };
    if (terminated) onEnded();
    ended.then(onEnded, onEnded);
    signal.addEventListener('abort', this.#changed.raise);
    this.#tickLater();
    try {
      const interruptedBy = await this.#collect();
      const { beginningMayBeMissing } = this.#handover;
      return this.#merger.completeness.result({
        limitReached: this.#output.isFull,
        beginningMayBeMissing,
        interruptedBy,
      });
    } finally {
      signal.removeEventListener('abort', this.#changed.raise);
      this.#stopTicking();
      this.#handover.close();
    }
  }

  /** Resolves with the cause when the reading ended early. */
  async #collect(): Promise<string | undefined> {
    for (;;) {
      if (this.#request.signal.aborted) return 'aborted';
      if (this.#output.isFull) return undefined;
      this.#handover.prepare();
      const reading = this.#readFront();
      if (reading !== undefined) {
        await reading;
        continue;
      }
      const before = this.#handover.front;
      const done = this.#handover.advance();
      await this.#flush();
      if (done) return done.interruptedBy;
      if (this.#handover.front !== before) continue;
      this.#isIdle = true;
      await this.#changed.wait();
      this.#isIdle = false;
    }
  }

  #tickLater(): void {
    this.#stopTicking = this.#tools.clock.after(this.#tools.times.tickMs, () => {
      this.#handover.tick(this.#isIdle);
      this.#changed.raise();
      this.#tickLater();
    });
  }

  /** Undefined, synchronously, when there is nothing to read: the handover then decides on this very state. */
  #readFront(): Promise<void> | undefined {
    const front = this.#handover.readableFront;
    if (!front) return undefined;
    const cursor = this.#cursorOf(front);
    const chunks = cursor.chunks();
    if (chunks.length > 0) return this.#read(cursor, chunks);
    return front.end && cursor.finish() ? this.#deliver() : undefined;
  }

  async #read(cursor: StreamCursor, chunks: Buffer[]): Promise<void> {
    this.#handover.received(cursor.stream);
    for (let index = 0; index < chunks.length; index += 1) {
      const goesOn = cursor.read(chunks, index);
      await this.#deliver();
      if (!goesOn || this.#output.isFull || this.#request.signal.aborted) return;
    }
  }

  async #deliver(): Promise<void> {
    await this.#flush();
    if (this.#merger.stop) this.#handover.stopped();
  }

  #cursorOf(stream: LogStream): StreamCursor {
    if (this.#cursor?.stream !== stream) this.#cursor = new StreamCursor(stream, this.#merger);
    return this.#cursor;
  }

  async #flush(): Promise<void> {
    const { blocks, since } = this.#output.blocks();
    if (blocks.length > 0) this.#handover.delivered();
    for (const [index, block] of blocks.entries()) {
      if (index === since) this.#sink.reachedSince?.();
      const slow = this.#sink.write(block);
      if (slow !== undefined) await this.#unlessAborted(slow);
      if (this.#request.signal.aborted) return;
    }
  }

  async #unlessAborted(slow: Promise<void>): Promise<void> {
    const { signal } = this.#request;
    if (signal.aborted) return;
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => resolve();
      signal.addEventListener('abort', stop, { once: true });
      slow.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    });
  }
}

/** Wakes the one waiting loop, for any of several causes; a raise between two waits is not lost. */
class Signal {
  #isRaised = false;
  #wake: (() => void) | undefined;

  readonly raise = (): void => {
    this.#isRaised = true;
    this.#wake?.();
  };

  /** Resolves at the next `raise`, or at once after an earlier one since the last wait. */
  async wait(): Promise<void> {
    if (!this.#isRaised) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    this.#isRaised = false;
  }
}
