import { channelPolicy, type Policy, type Rule, TARGET_LOG_RIGHTS, type TargetLogRight } from '../policy/policy.ts';
import { matchesNamespace } from './resolve.ts';

/** A namespace of a cluster, by its name in the policy. */
interface Subject {
  readonly cluster: string;
  readonly namespace: string;
}

/** `isShared`: another company shares the channel (Slack Connect). */
interface Channel {
  readonly isShared: boolean;
}

/** For a sentence about who may read what. */
export const TARGET_LOG_WORDS: Readonly<Record<TargetLogRight, string>> = {
  none: 'nothing',
  errors: 'the lines that say what is wrong (chosen, redacted)',
  tail: 'the newest lines (redacted)',
};

/** The right that one rule gives: its own, else the chosen lines, and in a channel that another company shares none. */
export const targetLogOfRule = ({ targetLog }: Pick<Rule, 'targetLog'>, { isShared }: Channel): TargetLogRight =>
  targetLog ?? (isShared ? 'none' : 'errors');

/**
 * The right of a diagnosis to read and show the log of the pods' own containers in a namespace: the widest that one of
 * the channel's rules for it gives, whatever image or profile the rule is about, and with or without an approval. The
 * default counts only where none of them says anything, so that a `none` is not undone by a rule that is silent. `none`
 * where no rule names the namespace. Pure.
 */
export function targetLogOf(
  policy: Pick<Policy, 'channels'>,
  requester: { readonly channelId: string },
  { cluster, namespace }: Subject,
  channel: Channel,
): TargetLogRight {
  const rules = channelPolicy(policy, requester.channelId)?.rules ?? [];
  const about = rules
    .filter((rule) => rule.clusters.includes(cluster) && rule.classes.length > 0 && rule.profiles.length > 0)
    .filter((rule) => rule.namespaces.some((pattern) => matchesNamespace(pattern, namespace)));
  const explicit = about.filter((rule) => rule.targetLog !== undefined);
  const rights = (explicit.length > 0 ? explicit : about).map((rule) => targetLogOfRule(rule, channel));
  return TARGET_LOG_RIGHTS.findLast((right) => rights.includes(right)) ?? 'none';
}
