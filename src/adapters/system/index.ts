import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, readFile, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { BASE32 } from '../../core/hash.ts';
import { asRunId } from '../../core/ids.ts';
import type { MachineProbe } from '../../doctor/probes.ts';
import type { Ids } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';

export { memoryOf } from './memory.ts';

/** The machine's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  // Whole, as `now`.
  elapsed: () => Math.floor(performance.now()),
  after(ms, wake) {
    // A wait of nothing gives way to others. Timers would not: those due again when the one before has run keep sockets waiting.
    if (ms === 0) {
      const turn = setImmediate(wake).unref();
      return () => clearImmediate(turn);
    }
    const timer = setTimeout(wake, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Random ids of 50 bits: among a million runs two collide with a chance of 1 in 2,000, and the store refuses that. */
export const randomIds: Ids = {
  runId: () => asRunId([...randomBytes(10)].map((byte) => BASE32[byte % 32]).join('')),
};

export const replicaName = (host: string): string => `${host}-${process.pid}-${randomBytes(4).toString('hex')}`;

/** The namespace of the pod that this process runs in; undefined outside one. */
export const ownNamespace = (): Promise<string | undefined> =>
  readFile('/var/run/secrets/kubernetes.io/serviceaccount/namespace', 'utf8').then(
    (text) => text.trim() || undefined,
    () => undefined,
  );

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';

/** The checks of this machine for `doctor`: its ports and folders. They leave nothing open and write nothing. */
export const machineProbe: MachineProbe = {
  portTrouble: (port) =>
    new Promise((resolve) => {
      const server = createServer();
      server.once('error', (error) => resolve(codeOf(error)));
      server.listen(port, () => server.close(() => resolve(undefined)));
    }),
  async readiness(port) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/readyz?verbose`, { signal: AbortSignal.timeout(3_000) });
      const lines = (await response.text()).split('\n').filter((line) => /^\[[-+i]\] /.test(line));
      return lines.length > 0 ? lines : undefined;
    } catch {
      return undefined;
    }
  },
  folderTrouble: (path) =>
    access(path, constants.W_OK | constants.X_OK).then(
      () => undefined,
      (error: unknown) => codeOf(error),
    ),
  scratch: tmpdir(),
  async freeBytes(path) {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  },
};
