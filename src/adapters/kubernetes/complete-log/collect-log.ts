import type { LogCompleteness } from '../../../core/run/run.ts';
import type { LogRequest, LogSink } from '../../../flow/ports/cluster.ts';
import { Output } from './block-writer.ts';
import { Succession } from './handover.ts';
import { Merge } from './line-merger.ts';
import { type LogStream, Reading } from './log-stream.ts';
import type { LogTools } from './log-streams.ts';

/**
 * Reads one container's log by handover follows (cluster facts, "Logs"): while the follow in front lags, further ones are
 * opened and held back, so that every log file is held open by someone although the kubelet renames it. The front is read until
 * it meets the next one's first line, jumps over it, or has nothing more; then the next one is in front. After the
 * container's end a plain read comes last. Memory: about 1 MiB, and up to 6 MiB for the lines of the last seconds.
 * Never rejects for the cluster's sake; what the sink throws comes through.
 */
export async function collectLog(tools: LogTools, request: LogRequest, sink: LogSink): Promise<LogCompleteness> {
  return new LogCollection(tools, request, sink).run();
}

class LogCollection {
  readonly #tools: LogTools;
  readonly #request: LogRequest;
  readonly #sink: LogSink;
  readonly #wakeUp = new WakeUp();
  readonly #output: Output;
  readonly #merge: Merge;
  readonly #succession: Succession;
  #reading: Reading | undefined;
  /** Waiting for the front, as opposed to for the sink. */
  #isIdle = false;
  #stopTicking: () => void = () => {};

  constructor(tools: LogTools, request: LogRequest, sink: LogSink) {
    this.#tools = tools;
    this.#request = request;
    this.#sink = sink;
    this.#output = new Output(request.limitBytes);
    this.#merge = new Merge(this.#output, tools.times);
    this.#succession = new Succession(tools, request, {
      merge: this.#merge,
      changed: this.#wakeUp.ring,
      finishReading: () => {
        this.#reading?.finish();
        return this.#reading;
      },
    });
  }

  async run(): Promise<LogCompleteness> {
    const { ended, signal, terminated } = this.#request;
    const onEnded = (): void => {
      this.#succession.end();
      this.#wakeUp.ring();
    };
    if (terminated) onEnded();
    ended.then(onEnded, onEnded);
    signal.addEventListener('abort', this.#wakeUp.ring);
    this.#tickLater();
    try {
      return this.#result(await this.#collect());
    } finally {
      signal.removeEventListener('abort', this.#wakeUp.ring);
      this.#stopTicking();
      this.#succession.close();
    }
  }

  /** Resolves with why the reading ended early, if it did. */
  async #collect(): Promise<string | undefined> {
    for (;;) {
      if (this.#request.signal.aborted) return 'aborted';
      if (this.#output.isFull) return undefined;
      this.#succession.settle();
      const draining = this.#drain();
      if (draining !== undefined) {
        await draining;
        continue;
      }
      const before = this.#succession.front;
      const done = this.#succession.goOn();
      await this.#flush();
      if (done) return done.interruptedBy;
      if (this.#succession.front !== before) continue;
      this.#isIdle = true;
      await this.#wakeUp.sleep();
      this.#isIdle = false;
    }
  }

  #result(interruptedBy: string | undefined): LogCompleteness {
    return this.#merge.completeness.result({
      limitReached: this.#output.isFull,
      beginningMayBeMissing: this.#succession.beginningMayBeMissing,
      interruptedBy,
    });
  }

  #tickLater(): void {
    this.#stopTicking = this.#tools.clock.after(this.#tools.times.tickMs, () => {
      this.#succession.tick(this.#isIdle);
      this.#wakeUp.ring();
      this.#tickLater();
    });
  }

  /** Takes what the front has. Undefined, at once, when it has nothing now: what is decided then is decided on this very state. */
  #drain(): Promise<void> | undefined {
    const { front, isReady } = this.#succession;
    if (!front || !isReady || this.#merge.isHeld) return undefined;
    const reading = this.#readingOf(front);
    const chunks = reading.take();
    if (chunks.length > 0) return this.#read(reading, chunks);
    if (!front.end || reading.finish() === undefined) return undefined;
    return this.#deliver();
  }

  async #read(reading: Reading, chunks: Buffer[]): Promise<void> {
    this.#succession.flow(reading.stream);
    for (let index = 0; index < chunks.length; index += 1) {
      const goesOn = reading.read(chunks, index);
      await this.#deliver();
      if (!goesOn || this.#output.isFull || this.#request.signal.aborted) return;
    }
  }

  async #deliver(): Promise<void> {
    await this.#flush();
    if (this.#merge.stop) this.#succession.handOver();
  }

  #readingOf(stream: LogStream): Reading {
    const reading = this.#reading?.stream === stream ? this.#reading : new Reading(stream, this.#merge);
    this.#reading = reading;
    return reading;
  }

  async #flush(): Promise<void> {
    const blocks = this.#output.take();
    if (blocks.length > 0) this.#succession.deliver();
    for (const block of blocks) {
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

/** One sleeper, woken by any of several causes; a cause that comes while nobody sleeps is not lost. */
export class WakeUp {
  #isDue = false;
  #wake: (() => void) | undefined;

  readonly ring = (): void => {
    this.#isDue = true;
    this.#wake?.();
  };

  /** Resolves at the next `ring`, or at once if there was one since the last sleep. */
  async sleep(): Promise<void> {
    if (!this.#isDue) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    this.#isDue = false;
  }
}
