import { FLAGS, type Flag, type ValueKind } from '../../../src/core/command/line/flags.ts';
import { VERBS } from '../../../src/core/command/line/verbs.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { PROFILE_HELP } from '../../../src/core/say/answers/help.ts';
import type { Completion, Word } from '../contract.ts';

/** The words of a command, from the tables that the parser reads and from the policy in force. */
export function completionOf(policy: Policy): Completion {
  const images = Object.values(policy.images).map(
    ({ alias, reference, class: harm }): Word => ({
      word: alias,
      does: `${reference} (${harm})`,
    }),
  );
  const values: Partial<Record<ValueKind, readonly string[]>> = {
    image: images.map(({ word }) => word),
    namespace: namespacesOf(policy),
    cluster: Object.keys(policy.clusters),
    profile: PROFILE_HELP.map(([name]) => name),
    'pull-policy': ['Always', 'IfNotPresent', 'Never'],
  };
  return {
    verbs: VERBS.map(({ name, help }) => ({ word: name, does: help })),
    flags: usualFirst(FLAGS).map((flag: Flag) => {
      const known = values[flag.value];
      return { word: `--${flag.name}`, does: flag.help, ...(known === undefined ? {} : { values: known }) };
    }),
    images,
    namespaces: namespacesOf(policy),
  };
}

/** What most requests have comes first, the rest as in the grammar. */
const USUAL = ['image', 'target', 'profile', 'reason', 'namespace'];

function usualFirst(flags: readonly Flag[]): readonly Flag[] {
  const rank = ({ name }: Flag): number => (USUAL.includes(name) ? USUAL.indexOf(name) : USUAL.length);
  return flags.toSorted((one, other) => rank(one) - rank(other));
}

/** The namespaces that some rule names in full; a prefix names none. */
export function namespacesOf(policy: Policy): readonly string[] {
  const named = Object.values(policy.channels).flatMap(({ rules }) => rules.flatMap(({ namespaces }) => namespaces));
  return [...new Set(named)].filter((name) => !name.endsWith('*')).sort();
}
