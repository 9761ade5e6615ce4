import type { RunId } from '../ids.ts';
import type { PendingApproval } from '../policy/vote.ts';
import type { Origin } from './run.ts';

/** What a container's text is sealed about: copied to another run or another pod, it does not open. */
export const aboutContainer = (runId: RunId, podUid: string): string => `${runId}/${podUid}`;

/** Where a request came from, without its bearer secret: what may stay in a pod for the pod's life. */
export function withoutSecret({ responseUrl: _, ...origin }: Origin): Omit<Origin, 'responseUrl'> {
  return origin;
}

/** An approval without the words of its voters. */
export const withoutWords = (approval: PendingApproval): PendingApproval => ({
  ...approval,
  votes: approval.votes.map(({ reason: _, ...vote }) => vote),
});

/** What was sealed with our key, so it is what we wrote; undefined: something else of ours, or of a version that we do not know. */
export function readSealed<Value>(text: string, isOurs: (value: unknown) => value is Value): Value | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isOurs(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
