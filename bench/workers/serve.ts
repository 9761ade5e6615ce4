import type { Served } from './served.ts';
import type { WorkerTypes } from './worker.ts';

type Work = { readonly [Name in keyof WorkerTypes]: (config: WorkerTypes[Name]['config']) => Promise<Served<object>> };

/** Each is loaded only in its own process. */
const WORKS: Work = {
  'bare-bolt': async (config) => (await import('./bare-bolt.ts')).startBareBolt(config),
  'busy-cluster': async (config) => (await import('./busy-cluster.ts')).startBusyCluster(config),
  load: async (config) => (await import('./load.ts')).sendLoad(config),
  'log-server': async (config) => (await import('./log-server.ts')).startLogServer(config),
  'file-reader': async (config) => (await import('./file-reader.ts')).readFileOnce(config),
  'log-reader': async (config) => (await import('./log-reader.ts')).readLogOnce(config),
  'turn-reader': async (config) => (await import('./turn-reader.ts')).readTurns(config),
};

const isWorker = (name: string): name is keyof WorkerTypes => Object.hasOwn(WORKS, name);

/** The worker's side: takes its configuration, answers with its result, and ends with its parent. */
export async function serve(name: string): Promise<void> {
  if (!isWorker(name)) throw new Error(`there is no worker ${name}`);
  let stop: (() => Promise<void>) | undefined;
  process.once('disconnect', () => void Promise.resolve(stop?.()).finally(() => process.exit()));
  // A Ctrl-C reaches the whole group; the parent's end is what counts.
  process.on('SIGINT', () => undefined);
  const work: (config: never) => Promise<Served<object>> = WORKS[name];
  process.once('message', (config) => {
    work(config as never).then(
      (served) => {
        stop = served.stop;
        process.send?.({ result: served.result });
      },
      (error: unknown) => process.send?.({ error: error instanceof Error ? error.stack : String(error) }),
    );
  });
}
