import type { Termination } from '../objects/pod.ts';
import type { Process } from './process.ts';
import { asOf } from './recorded-output.ts';
import {
  headingOf,
  isTooLate,
  notRecorded,
  PLAY_MS,
  recordingOf,
  report,
  type Scene,
  type WatchedEnd,
} from './recordings.ts';

export interface Watched extends Scene {
  /** Called once, at the end of the target, which is the watch's end too. */
  readonly atTargetEnd: (act: (end: Termination) => void) => void;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Prints what blackbox printed beside a program of the shop: the look that a condition on the leak's memory led to, and at the end of the
 * container how it died. Only a kill was recorded, for memory or from outside.
 */
export async function playWatch(process: Process, { atTargetEnd, ...scene }: Watched): Promise<number> {
  const { env } = process;
  const { workload, isSeen, owner, user } = scene;
  if (isTooLate(process, 'blackbox')) return 0;
  const isArmed = workload === 'leak' && (env.get('BLACKBOX_WHEN') ?? '').includes('memory');
  const begun = recordingOf(isArmed ? 'blackbox-oom-armed' : 'blackbox-oom');
  if (!begun || !isSeen || !owner || !isRecorded(scene)) return notRecorded(process, 'blackbox');
  const length = env.get('BLACKBOX_FOR') ?? '25m';
  const untilMs = Date.now() + Number.parseInt(length, 10) * (UNITS[length.slice(-1)] ?? 0);
  const until = `until ${new Date(untilMs).toISOString().slice(11, 19)} UTC`;
  const shown = (text: string): string =>
    asOf(text, { env, now: new Date(), user, owner })
      .replace(/until [\d:]+ UTC/g, until)
      .replace(/(once when )\S+\./, `$1${env.get('BLACKBOX_WHEN')}.`);
  const [head = '', look = ''] = begun.log.split('\n\n');
  process.write(`${headingOf(process, 'blackbox')}${shown(head)}\n`);
  atTargetEnd((end) => {
    const death = recordingOf(`blackbox-${endOf(end, isArmed)}`);
    if (!death) {
      notRecorded(process, 'blackbox');
      return;
    }
    process.write(`\n${shown(death.log.split('\n\n').slice(-2).join('\n\n'))}`);
    process.writeTermination(shown(death.termination));
  });
  await process.sleep(PLAY_MS);
  if (isArmed && !process.signal.aborted) process.write(`\n${shown(look)}\n`);
  await process.sleep(untilMs - Date.now());
  const verdict = `The time is over: process 1 (node) is alive after ${length} of watching.`;
  if (!process.signal.aborted) process.write(`\n${verdict}\n`);
  return report(process, verdict, [{ name: 'death', state: 'ok', text: 'alive' }]);
}

/** The programs of the shop that run in Node.js. */
const isRecorded = ({ workload }: Scene): boolean => workload !== undefined && workload !== 'deadlock';

function endOf({ exitCode, reason }: Termination, isArmed: boolean): WatchedEnd | undefined {
  if (reason === 'OOMKilled') return isArmed ? 'oom-armed' : 'oom';
  return exitCode === 137 ? 'killed' : undefined;
}
