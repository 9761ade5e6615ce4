import { defined } from '../../lib/object.ts';
import { base32Hash } from '../hash.ts';
import type { RunId } from '../ids.ts';
import { literalVariables } from './build.ts';
import type { EphemeralContainer } from './ephemeral-container.ts';
import type { Carrier } from './once-more.ts';
import type { Plan } from './plan.ts';
import { NOBODY, securityContextOf } from './profiles.ts';

/** Both containers have the volume with the tracer here. */
export const CARRIER_FOLDER = '/.kdebug';

/** Marks the container that brings a tracer. */
export const CARRIES_VARIABLE = 'KDEBUG_CARRIES';

/** The time from the moment when the tracer ends the program to the end of the container: SIGTERM, 3 s, SIGKILL, a report. */
export const END_ROOM_MS = 10_000;

/** Derived like the run's own container name, so that no repeat adds a second one. */
export const carrierName = (runId: RunId, podUid: string): string =>
  `kdebug-${base32Hash(`${runId}/${podUid}/carrier`, 12)}`;

const tracerPath = (secondRunName: string): string => `${CARRIER_FOLDER}/${secondRunName}`;

const KEY = /^[0-9a-f]{32}$/;

/** True for the termination message of the container that brings a tracer. The tracer's report has the same key. */
export const isTracerKey = (message: string): boolean => KEY.test(message.trim());

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
 * The ephemeral container that brings the tracer. It has no `KDEBUG_RUN`, so it is never mistaken for a run. It has the
 * least power, and runs as the user of the program, who may then remove the copy from every folder; as nobody where only the
 * image names that user, or it is root: mostly an emptyDir can be written by everybody. Pure.
 */
export function buildCarrier(
  plan: Pick<Plan, 'podUid' | 'requesterId' | 'onceMore'>,
  { image, volume }: Carrier,
  { runId, containerName, notAfterMs }: CarrierMark,
): EphemeralContainer {
  return {
    name: carrierName(runId, plan.podUid),
    image,
    args: ['carry', tracerPath(containerName)],
    env: literalVariables([
      [CARRIES_VARIABLE, runId],
      ['KDEBUG_REQUESTER', plan.requesterId],
      ['KDEBUG_NOT_AFTER', new Date(notAfterMs).toISOString()],
    ]),
    ...defined({
      securityContext: securityContextOf('restricted', { ...NOBODY, uid: plan.onceMore?.user || NOBODY.uid }),
    }),
    volumeMounts: [{ name: volume, mountPath: CARRIER_FOLDER }],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}
