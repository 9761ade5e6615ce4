import { isDirect } from '../../ids.ts';
import { isBatchRun, isUnattended } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import type { AudienceOf } from '../../run/shared-files.ts';
import { endToneOf } from '../parts/headline.ts';
import { describeOutcome } from '../parts/outcome-text.ts';

/** A requester who waited no longer than this is probably still looking at the channel. */
const LONG_MS = 10_000;

/**
 * The result mentions its requester, so that Slack notifies them, if it needed an approval, took long from request to
 * end, found something wrong, or ran in several pods. A quick success notifies nobody.
 */
export const namesRequester = (run: Run): boolean =>
  !isUnattended(run) && (isBatchRun(run) || run.approval !== undefined || tookLong(run) || isWrong(run));

/**
 * Slack tells somebody of the result: it names them, is in a direct message, or stands in a thread that people follow, as
 * that of an alert or below what they wrote.
 */
export const notifiesSomebody = (run: Run, { isPrivate }: AudienceOf): boolean => {
  const { channelId, inGroupMessage, threadTs, threadOf } = run.origin;
  const isFollowed = isUnattended(run) || threadTs !== undefined || threadOf !== undefined;
  return isPrivate || isFollowed || isDirect(channelId) || inGroupMessage === true || namesRequester(run);
};

const tookLong = ({ origin, finishedAtMs, endedAtMs }: Run): boolean => {
  const endMs = finishedAtMs ?? endedAtMs;
  return endMs !== undefined && endMs - origin.receivedAtMs > LONG_MS;
};

function isWrong({ outcome, verdict }: Run): boolean {
  if (outcome?.kind !== 'succeeded' && outcome?.kind !== 'answered') return true;
  const tone = endToneOf({ outcome, ...(verdict ? { verdict } : {}) }, describeOutcome(outcome).tone);
  return tone === 'failure' || tone === 'attention';
}
