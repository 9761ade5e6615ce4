import type { NotRead, ObjectEvent } from '../../core/diagnosis/facts/facts.ts';
import { toKdebugError } from '../../core/errors.ts';
import { withDeadline } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { Warnings } from '../ports/cluster.ts';

/** The time that a first answer waits for all of its sources, which are read side by side. */
export const FIRST_ANSWER_MS = 1_000;

export type SourceDeps = Pick<FlowDeps, 'clock' | 'log'>;

/** The content of one source, or the reason why it was not read. */
export interface Read<Value> {
  readonly value?: Value;
  readonly notRead: readonly NotRead[];
}

export const NOTHING_READ: Read<never> = { notRead: [] };

/**
 * Reads one source; a failure, a missing right (also `undefined`) or an answer after `waitMs` is named, and delays no
 * other source. Never rejects.
 */
export async function readSource<Value>(
  { clock, log }: SourceDeps,
  named: Pick<NotRead, 'what' | 'containerName'>,
  { reading, waitMs = FIRST_ANSWER_MS }: { readonly reading: Promise<Value | undefined>; readonly waitMs?: number },
): Promise<Read<Value>> {
  const not = (why: NotRead['why']): Read<Value> => ({ notRead: [{ ...named, why }] });
  const answered = reading.then(
    (value) => (value === undefined ? not('forbidden') : { value, notRead: [] }),
    (thrown: unknown) => {
      const { code } = toKdebugError(thrown);
      log.debug('source of a first answer not read', { source: named.what, reason: code });
      return not(code === 'cluster_forbidden' ? 'forbidden' : 'failed');
    },
  );
  return withDeadline(clock, waitMs, answered, () => not('late'));
}

/** As `readSource`; that there are more of them is named, too. */
export async function readWarnings(
  deps: SourceDeps,
  reading: Promise<Warnings>,
  waitMs?: number,
): Promise<Read<readonly ObjectEvent[]>> {
  const { value, notRead } = await readSource(deps, { what: 'events' }, { reading, ...defined({ waitMs }) });
  if (!value) return { notRead };
  return { value: value.events, notRead: value.areAll ? [] : [{ what: 'events', why: 'cut' }] };
}

/** Undefined on failure or timeout: for what is only a hint, so that nobody needs to know that it is missing. */
export async function inTime<Value>(
  { clock, log }: SourceDeps,
  reading: Promise<Value>,
  waitMs = 2 * FIRST_ANSWER_MS,
): Promise<Value | undefined> {
  const answered = reading.catch((thrown: unknown) => {
    log.debug('cluster fact left out', { reason: toKdebugError(thrown).code });
    return undefined;
  });
  return withDeadline(clock, waitMs, answered, () => undefined);
}
