import { randomBytes } from 'node:crypto';
import type { ContainerLog } from '../log/container-log.ts';
import { type Container, rfc3339, type Termination } from '../objects/pod.ts';
import type { Credentials } from '../programs/access.ts';
import type { Process, Program } from '../programs/process.ts';

const MAX_MESSAGE = 4096;

export interface Exit {
  readonly exitCode: number;
  readonly reason: string;
  /** Absent: now. */
  readonly finishedAt?: string | undefined;
}

interface InstanceParts {
  /** Absent: a new one. */
  readonly id?: string | undefined;
  readonly container: Container;
  readonly credentials: Credentials;
  readonly imageId: string;
  readonly now: () => number;
  readonly makeLog: () => ContainerLog;
  /** Written before the first output; for services that say one thing and then wait. */
  readonly banner: string;
  readonly onExit: (instance: Instance) => void;
}

/** One life of a container, from its start to its end. */
export class Instance {
  readonly id: string;
  readonly credentials: Credentials;
  readonly imageId: string;
  readonly startedAt: string;
  readonly #parts: InstanceParts;
  readonly #killed = new AbortController();
  #log: ContainerLog | undefined;
  #message = '';
  #termination: Termination | undefined;

  constructor(parts: InstanceParts) {
    this.#parts = parts;
    this.id = parts.id ?? `containerd://${randomBytes(32).toString('hex')}`;
    this.credentials = parts.credentials;
    this.imageId = parts.imageId;
    this.startedAt = rfc3339(parts.now());
  }

  /** Set once the container has ended. */
  get termination(): Termination | undefined {
    return this.#termination;
  }

  /** Made when it is first needed: most containers of a big cluster are never looked at. */
  get log(): ContainerLog {
    if (this.#log) return this.#log;
    this.#log = this.#parts.makeLog();
    if (this.#parts.banner !== '') this.#log.write(Buffer.from(this.#parts.banner));
    if (this.#termination) this.#log.end();
    return this.#log;
  }

  /** Runs a program as this container's process. A program that throws ends it with 1. */
  run(
    program: Program,
    seen: Pick<Process, 'argv' | 'env' | 'files'>,
    sleep: (ms: number, signal: AbortSignal) => Promise<void>,
  ): void {
    const { signal } = this.#killed;
    const process: Process = {
      ...seen,
      user: this.credentials,
      signal,
      sleep: (ms) => sleep(ms, signal),
      write: (text) => {
        if (!this.#termination) this.log.write(typeof text === 'string' ? Buffer.from(text) : text);
      },
      writeTermination: (text) => {
        this.#message = text.slice(0, MAX_MESSAGE);
      },
    };
    void this.#runToEnd(program, process);
  }

  /** Ends it from outside. Safe to call twice: the first end counts. */
  end({ exitCode, reason, finishedAt = rfc3339(this.#parts.now()) }: Exit): void {
    if (this.#termination) return;
    const message = this.#terminationMessage(exitCode);
    this.#termination = {
      exitCode,
      reason,
      ...(message === '' ? {} : { message }),
      startedAt: this.startedAt,
      finishedAt,
      containerID: this.id,
    };
    this.#log?.end();
    this.#killed.abort();
    this.#parts.onExit(this);
  }

  discard(): void {
    this.#killed.abort();
    this.#log?.discard();
  }

  async #runToEnd(program: Program, process: Process): Promise<void> {
    let exitCode = 1;
    try {
      exitCode = await program(process);
    } catch (thrown) {
      process.write(`local cluster: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    }
    this.end({ exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' });
  }

  #terminationMessage(exitCode: number): string {
    if (this.#message !== '' || exitCode === 0) return this.#message;
    const isFallback = this.#parts.container.terminationMessagePolicy === 'FallbackToLogsOnError';
    return isFallback ? (this.#log?.tail ?? '') : '';
  }
}
