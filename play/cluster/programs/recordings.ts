import { readFileSync } from 'node:fs';
import type { Process } from './process.ts';
import type { Workload } from './workloads.ts';

/** The images that bring files back. They need Go, a JVM or py-spy, so play prints what they printed on a real cluster. */
export const RECORDED_IMAGES = ['stacks', 'profile', 'net'] as const;
export type RecordedImage = (typeof RECORDED_IMAGES)[number];

/** How a run ended; what it printed is in the file of its name. */
export interface Recorded {
  readonly exitCode: number;
  readonly termination: string;
}

interface Book {
  readonly recorded: {
    readonly date: string;
    /** The version of the API server. */
    readonly server: string;
    /** By image, with its version. */
    readonly images: Readonly<Record<RecordedImage, string>>;
  };
  readonly runs: Readonly<Record<string, Recorded>>;
}

const FOLDER = new URL('../recorded/', import.meta.url);
/** Made by scripts/record-images.ts, as is each file beside it. */
export const RECORDINGS = new URL('recordings.json', FOLDER);

/** Shorter than the real images measure: nobody who plays waits for what is known. */
const PLAY_MS = 1500;

export interface Scene {
  readonly image: RecordedImage;
  readonly workload: Workload | undefined;
  /** Whether the kernel would let it look into the target's processes. */
  readonly isSeen: boolean;
}

/** Prints what the image printed beside the same program on a real cluster, after a line that says so. */
export async function playRecording(process: Process, { image, workload, isSeen }: Scene): Promise<number> {
  const { recorded, runs }: Book = JSON.parse(readFileSync(RECORDINGS, 'utf8'));
  // The network is the pod's: no right shows more of it.
  const who = isSeen || image === 'net' ? '' : '-stranger';
  const name = `${image}-${workload}${who}`;
  const run = runs[name];
  if (!run) return notRecorded(process, image);
  const settings = [...process.env.keys()].filter((key) => key.startsWith(`${image.toUpperCase()}_`));
  const without = settings.length === 0 ? '' : `, without ${settings.join(', ')}`;
  process.write(
    `(A recording: ${recorded.images[image]} on Kubernetes ${recorded.server}, ${recorded.date}${without}.)\n`,
  );
  await process.sleep(PLAY_MS);
  if (process.signal.aborted) return 137;
  process.write(readFileSync(new URL(`${name}.log`, FOLDER)));
  process.writeTermination(run.termination);
  return run.exitCode;
}

function notRecorded(process: Process, image: RecordedImage): number {
  const text = 'play has no recording of this image beside this pod';
  process.write(`${image} measures nothing here: ${text}.\n`);
  const sections = [{ name: image, state: 'not-readable', text }];
  process.writeTermination(JSON.stringify({ kdebug: 1, verdict: 'Nothing was measured.', findings: [], sections }));
  return 0;
}
