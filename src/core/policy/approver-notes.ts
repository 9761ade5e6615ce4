import type { Policy } from './policy.ts';

/** What a policy's groups of approvers really mean, where that is easily overlooked; one sentence each, for `lint-policy`. */
export function approverNotes({ approvers }: Pick<Policy, 'approvers'>): readonly string[] {
  return Object.entries(approvers).flatMap(([name, { channel }]) =>
    channel === undefined
      ? []
      : [
          `approvers.${name}: every full member of ${channel} may approve, and who may join that channel can become one: best use a private channel, with kdebug invited to it`,
        ],
  );
}
