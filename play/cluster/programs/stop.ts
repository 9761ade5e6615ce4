import { type Credentials, maySee } from './access.ts';
import type { Process, Program } from './process.ts';

/** Another container whose processes share the process namespace. */
export interface Neighbour {
  readonly env: ReadonlyMap<string, string>;
  readonly credentials: Credentials;
  /** Ends it as SIGTERM does. */
  terminate(): void;
}

/** As the container's process starts up and looks at the others. */
const LOOK_MS = 100;

/**
 * `autodiagnose stop RUN-ID`, with the exit codes and sentences of images/tools/internal/diagnose/stop.go: it sees the
 * environment of those whose user and power it has, and ends those with this run's id.
 */
export function stopper(user: Credentials, neighbours: () => readonly Neighbour[]): Program {
  return async (process) => {
    const [, run = ''] = process.argv;
    if (!/^[A-Za-z0-9-]+$/.test(run)) return end(process, 1, 'usage: stop RUN-ID (letters, digits and dashes)');
    if (isTooLate(process)) return end(process, 1, 'Not stopped: this started too late.');
    if (run === process.env.get('KDEBUG_RUN')) return end(process, 1, `Not stopped: ${run} is this run itself.`);
    await process.sleep(LOOK_MS);
    const all = neighbours();
    const seen = all.filter(({ credentials }) => maySee(user, credentials));
    const found = seen.filter(({ env }) => env.get('KDEBUG_RUN') === run);
    if (found.length === 0) return end(process, 2, nothing(run, all.length - seen.length));
    for (const neighbour of found) neighbour.terminate();
    return end(process, 0, `Stopped run ${run} with TERM: processes ${found.map((_, index) => index + 7).join(' ')}.`);
  };
}

const nothing = (run: string, unread: number): string =>
  unread > 0
    ? `Nothing to stop: no process of run ${run} is visible, and ${unread} could not be read. Use the run's own target, user and profile.`
    : `Nothing to stop: no process of run ${run} is visible. It has ended, or it has another target.`;

const isTooLate = ({ env }: Process): boolean => Date.now() > Date.parse(env.get('KDEBUG_NOT_AFTER') ?? '');

function end({ write, writeTermination }: Process, exitCode: number, sentence: string): number {
  write(`${sentence}\n`);
  writeTermination(sentence);
  return exitCode;
}
