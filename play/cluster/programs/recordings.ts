import { readFileSync } from 'node:fs';
import type { Credentials } from './access.ts';
import type { Process } from './process.ts';
import { asOf, type Viewer } from './recorded-output.ts';

/** The diagnostic images. They need Go and a real kernel's view of a container, so play prints what they printed on a real cluster. */
export const RECORDED_IMAGES = ['autodiagnose', 'stacks', 'profile', 'net', 'blackbox'] as const;
export type RecordedImage = (typeof RECORDED_IMAGES)[number];

/** The ends of a container that blackbox was recorded beside: out of memory, the same after a look at it, and killed from outside. */
export const WATCHED_ENDS = ['oom', 'oom-armed', 'killed'] as const;
export type WatchedEnd = (typeof WATCHED_ENDS)[number];

/** What the pods of the shop do: a program in `play/cluster/workloads`, or a JVM that has locked itself up. */
export const WORKLOADS = ['web', 'leak', 'burn', 'close-wait', 'hang', 'deadlock'] as const;
export type Workload = (typeof WORKLOADS)[number];

/** The key of a comparison under which autodiagnose was recorded. */
export const RECORDED_KEY = 'recorded';

/** How a run ended; what it printed is in the file of its name. */
export interface Recorded {
  readonly exitCode: number;
  readonly termination: string;
}

export interface Book {
  readonly images: Readonly<
    Partial<
      Record<
        RecordedImage,
        {
          /** With its version. */
          readonly image: string;
          readonly date: string;
          /** The version of the API server. */
          readonly server: string;
        }
      >
    >
  >;
  readonly runs: Readonly<Record<string, Recorded>>;
}

const FOLDER = new URL('../recorded/', import.meta.url);
/** Made by scripts/record-images.ts, as is each file beside it. */
export const RECORDINGS = new URL('recordings.json', FOLDER);

/** Shorter than the real images measure: nobody who plays waits for what is known. */
export const PLAY_MS = 1500;

export interface Scene {
  readonly image: RecordedImage;
  readonly workload: Workload | undefined;
  /** As whom the image runs, and its target; absent: it has none. */
  readonly user: Credentials;
  readonly owner: Credentials | undefined;
  /** Whether the kernel would let it look into the target's processes. */
  readonly isSeen: boolean;
}

/** Prints what the image printed beside the same program on a real cluster, after a line that says so. */
export async function playRecording(
  process: Process,
  { image, workload, user, owner, isSeen }: Scene,
): Promise<number> {
  if (isTooLate(process, image)) return 0;
  // The network is the pod's: no right shows more of it.
  const who = isSeen || image === 'net' ? '' : '-stranger';
  const recording = recordingOf(`${image}-${workload}${who}`);
  if (!recording || !owner) return notRecorded(process, image);
  process.write(headingOf(process, image));
  await process.sleep(PLAY_MS);
  if (process.signal.aborted) return 137;
  const viewer: Viewer = { env: process.env, now: new Date(), user, owner };
  process.write(asOf(recording.log, viewer));
  process.writeTermination(asOf(recording.termination, viewer));
  return recording.exitCode;
}

/** A run and all that it printed. */
export function recordingOf(name: string): (Recorded & { readonly log: string }) | undefined {
  const run = book().runs[name];
  return run && { ...run, log: readFileSync(new URL(`${name}.log`, FOLDER), 'utf8') };
}

const book = (): Book => JSON.parse(readFileSync(RECORDINGS, 'utf8'));

/** The first line of a log: that it is a recording, and which settings it cannot follow. */
export function headingOf({ env }: Process, name: RecordedImage): string {
  const settings = [...env.keys()].filter((key) => key.startsWith(`${name.toUpperCase()}_`));
  const without = settings.length === 0 ? '' : `, without ${settings.join(', ')}`;
  const { image, server, date } = book().images[name] ?? { image: name, server: '', date: '' };
  return `(A recording: ${image} on Kubernetes ${server}, ${date}${without}.)\n`;
}

/** For the pods of other recordings, behind which nothing was ever looked at: what a diagnosis of a healthy one says. */
export async function nothingFound(process: Process): Promise<number> {
  const sections = ['processes', 'memory', 'cpu', 'network', 'files'].map((name) => ({
    name,
    state: 'ok',
    text: 'fine',
  }));
  const verdict = `Nothing found in ${sections.length} sections; it does not see inside the program.`;
  process.write('autodiagnose: a recorded pod, nothing found inside.\n');
  process.writeTermination(JSON.stringify({ kdebug: 1, verdict, findings: [], sections }));
  return 0;
}

/** Says so in a report; its exit code. */
export function notRecorded(process: Process, image: RecordedImage): number {
  const text = 'play has no recording of this image beside this pod';
  process.write(`${image} measures nothing here: ${text}.\n`);
  return report(process, 'Could not look: play has no recording for this pod.', [
    { name: image, state: 'not-readable', text },
  ]);
}

/** Whether the run was given up before it began; says so in the words of the images. */
export function isTooLate(process: Process, image: RecordedImage): boolean {
  const latest = process.env.get('KDEBUG_NOT_AFTER');
  if (latest === undefined || Date.now() <= Date.parse(latest)) return false;
  const verdict = `Started too late: this run was given up at ${latest}, so nothing was done.`;
  process.write(`kdebug ${image}: ${verdict}\n`);
  report(process, verdict, []);
  return true;
}

/** As a report of these sections without a finding; its exit code. */
export function report(process: Process, verdict: string, sections: readonly object[]): number {
  process.writeTermination(JSON.stringify({ kdebug: 1, verdict, findings: [], sections }));
  return 0;
}
