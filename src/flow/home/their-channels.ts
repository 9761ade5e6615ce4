import { KdebugError } from '../../core/errors.ts';
import type { ChannelId } from '../../core/ids.ts';
import { DIRECT, type Policy } from '../../core/policy/policy.ts';
import { withDeadline } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';

export interface TheirChannels {
  /** The channels of the policy that both the person and the bot are in. */
  readonly ids: readonly ChannelId[];
  /** The number of channels with too many people to look for one among them. */
  readonly tooLarge: number;
  /** The number of channels that Slack did not tell of in time; and its first error. */
  readonly unknown: number;
  readonly failure?: unknown;
}

interface Unknown {
  readonly failure: unknown;
}
type Known = 'in' | 'out' | 'too-large' | Unknown;

/**
 * Asks about each channel of the policy, because a person may be in thousands of others. What is not known of one does not hide the rest.
 * `patienceMs`: for all of them. Never rejects.
 */
export async function theirChannels(
  userId: string,
  { channels }: Policy,
  { directory, clock }: Pick<FlowDeps, 'directory' | 'clock'>,
  patienceMs: number,
): Promise<TheirChannels> {
  const ids = (Object.keys(channels) as ChannelId[]).filter((id) => id !== DIRECT);
  const timedOut = (): Known => ({ failure: new KdebugError('slack_unreachable', { facts: { kind: 'slow' } }) });
  const known = await Promise.all(
    ids.map((id) => {
      const answer = directory.areTogetherIn(id, userId, 'shown');
      return withDeadline(clock, patienceMs, answer.then(inOrOut, whyUnknown), timedOut);
    }),
  );
  const failures = known.filter((one): one is Unknown => typeof one === 'object');
  return {
    ids: ids.filter((_, index) => known[index] === 'in'),
    tooLarge: known.filter((one) => one === 'too-large').length,
    unknown: failures.length,
    ...defined({ failure: failures[0]?.failure }),
  };
}

const inOrOut = (isIn: boolean): Known => (isIn ? 'in' : 'out');

const whyUnknown = (failure: unknown): Known =>
  failure instanceof KdebugError && failure.facts.error === 'too_many_members' ? 'too-large' : { failure };
