import { defined } from '../../lib/object.ts';
import { base32Hash } from '../hash.ts';
import type { RunId } from '../ids.ts';
import { literalVariables } from './build.ts';
import type { EphemeralContainer } from './ephemeral-container.ts';
import type { Carrier } from './once-more.ts';
import type { Plan } from './plan.ts';
import { NOBODY, securityContextOf } from './profiles.ts';

/** Where both containers have the volume that the tracer is in. */
export const CARRIER_FOLDER = '/.kdebug';

/** The time from the moment when the tracer ends the program to the end of the container: SIGTERM, 3 s, SIGKILL, a report. */
export const END_ROOM_MS = 10_000;

/** Derived like the run's own container name, so that no repeat adds a second one. */
export const carrierName = (runId: RunId, podUid: string): string =>
  `kdebug-${base32Hash(`${runId}/${podUid}/carrier`, 12)}`;

const tracerPath = (secondRunName: string): string => `${CARRIER_FOLDER}/${secondRunName}`;

/** The words before those of the program itself. */
export const tracerWords = (secondRunName: string, { endsAfterMs }: Carrier): readonly string[] => [
  tracerPath(secondRunName),
  'once-more',
  `--for=${Math.ceil(endsAfterMs / 1000)}s`,
  '--',
];

export interface CarrierMark {
  readonly runId: RunId;
  /** The container of the second run. */
  readonly containerName: string;
  readonly notAfterMs: number;
}

/**
 * The ephemeral container that brings the tracer. It has no `KDEBUG_RUN`, so it is never mistaken for a run. It runs as
 * nobody, with the least power: an emptyDir can be written by every user. Pure.
 */
export function buildCarrier(
  plan: Pick<Plan, 'podUid' | 'requesterId'>,
  { image, volume }: Carrier,
  { runId, containerName, notAfterMs }: CarrierMark,
): EphemeralContainer {
  return {
    name: carrierName(runId, plan.podUid),
    image,
    args: ['carry', tracerPath(containerName)],
    env: literalVariables([
      ['KDEBUG_CARRIES', runId],
      ['KDEBUG_REQUESTER', plan.requesterId],
      ['KDEBUG_NOT_AFTER', new Date(notAfterMs).toISOString()],
    ]),
    ...defined({ securityContext: securityContextOf('restricted', NOBODY) }),
    volumeMounts: [{ name: volume, mountPath: CARRIER_FOLDER }],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}
