import type { FileView } from './file-view.ts';

/** What a simulated program sees of the world. It can do nothing else: no file, process or network of this machine. */
export interface Process {
  /** `argv[0]` is the program's name. */
  readonly argv: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly files: FileView;
  readonly user: RunAs;
  /** To the container's log; standard output and error are one. */
  write(text: string | Buffer): void;
  /** What the termination message will be. */
  writeTermination(text: string): void;
  /** Resolves after `ms`, or at once when the container is killed. */
  sleep(ms: number): Promise<void>;
  /** Aborted when the container is killed. */
  readonly signal: AbortSignal;
}

export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** Returns the exit code. */
export type Program = (process: Process) => number | Promise<number>;
