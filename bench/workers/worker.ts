import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BareBoltConfig, BareBoltResult } from './bare-bolt.ts';
import type { BusyClusterConfig, BusyClusterResult } from './busy-cluster.ts';
import type { FileReaderConfig, FileReading } from './file-reader.ts';
import type { LoadConfig, LoadResult } from './load.ts';
import type { LogReaderConfig, LogReading } from './log-reader.ts';
import type { LogServerConfig, LogServerResult } from './log-server.ts';
import type { TurnReaderConfig, TurnReading } from './turn-reader.ts';

/** The helper processes, by name. */
export interface WorkerTypes {
  readonly 'bare-bolt': { readonly config: BareBoltConfig; readonly result: BareBoltResult };
  readonly 'busy-cluster': { readonly config: BusyClusterConfig; readonly result: BusyClusterResult };
  readonly load: { readonly config: LoadConfig; readonly result: LoadResult };
  readonly 'log-server': { readonly config: LogServerConfig; readonly result: LogServerResult };
  readonly 'file-reader': { readonly config: FileReaderConfig; readonly result: FileReading };
  readonly 'log-reader': { readonly config: LogReaderConfig; readonly result: LogReading };
  readonly 'turn-reader': { readonly config: TurnReaderConfig; readonly result: TurnReading };
}

export interface Worker<Result> {
  readonly result: Result;
  /** Resolves when the process has ended; it is killed after 10 s. */
  stop(): Promise<void>;
}

type Answer<Result> = { readonly result: Result } | { readonly error: string };

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const STOP_MS = 10_000;

/** Starts a helper process and resolves with its result. @throws Error what went wrong in it */
export async function startWorker<Name extends keyof WorkerTypes>(
  name: Name,
  config: WorkerTypes[Name]['config'],
): Promise<Worker<WorkerTypes[Name]['result']>> {
  const child = fork(MAIN, ['worker', name], { serialization: 'advanced' });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit').finally(() => process.off('exit', kill));
  const stop = async (): Promise<void> => {
    if (child.connected) child.disconnect();
    const timer = setTimeout(kill, STOP_MS);
    await exited;
    clearTimeout(timer);
  };
  const answered = new Promise<Answer<WorkerTypes[Name]['result']>>((resolve) => {
    child.once('message', (message) => resolve(message as Answer<WorkerTypes[Name]['result']>));
    child.once('exit', (code) => resolve({ error: `the worker ${name} ended with ${code}` }));
  });
  child.send(config);
  const answer = await answered;
  if ('result' in answer) return { result: answer.result, stop };
  await stop();
  throw new Error(answer.error);
}

/** Starts a helper process for its result alone. */
export async function runWorker<Name extends keyof WorkerTypes>(
  name: Name,
  config: WorkerTypes[Name]['config'],
): Promise<WorkerTypes[Name]['result']> {
  const { result, stop } = await startWorker(name, config);
  await stop();
  return result;
}
