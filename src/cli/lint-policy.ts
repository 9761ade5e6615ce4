import { loadPolicy } from '../config/load-policy.ts';
import { isPinned } from '../core/container/names.ts';
import { alertNotes, approverNotes, effectsOf, identityNotes, registryNotes } from '../core/planning/lint-notes.ts';
import type { Policy } from '../core/policy/policy.ts';
import { formatCount } from '../lib/duration.ts';

/**
 * Checks a policy file and prints its problems, one a line. What an example left in it is a problem too, although the bot
 * would load it: a placeholder for an id, an image that no registry has. Notes are not problems: they say what each rule
 * really permits, and what is weak (an image by tag) or doubtful (one without a registry). Contacts neither cluster nor
 * Slack. Returns the exit code: 0 fine, 1 problems, 2 wrong usage.
 */
export function lintPolicy([path, ...others]: readonly string[], out: (line: string) => void): number {
  if (path === undefined || others.length > 0 || path.startsWith('-')) {
    out('usage: lint-policy POLICY-FILE');
    return 2;
  }
  const loaded = loadPolicy(path);
  const problems = loaded.kind === 'invalid' ? loaded.problems : loaded.placeholders;
  if (loaded.kind === 'invalid' || problems.length > 0) {
    for (const problem of problems) out(problem);
    out(formatCount(problems.length, 'problem'));
    return 1;
  }
  const channels = Object.values(loaded.policy.channels);
  const counts = [
    formatCount(channels.length, 'channel'),
    formatCount(channels.flatMap(({ rules }) => rules).length, 'rule'),
    formatCount(Object.keys(loaded.policy.images).length, 'image'),
  ];
  for (const note of notesOf(loaded.policy)) out(`note: ${note}`);
  out(`${path} is fine: ${counts.join(', ')}`);
  return 0;
}

const notesOf = (policy: Policy): readonly string[] => [
  ...Object.entries(policy.images)
    .filter(([, { reference }]) => !isPinned(reference))
    .map(([alias]) => `images.${alias} is a tag, which can move after an approval; pin its digest (NAME@sha256:…)`),
  ...registryNotes(policy),
  ...identityNotes(policy),
  ...approverNotes(policy),
  ...alertNotes(policy),
  ...Object.entries(policy.channels).flatMap(([channel, { rules }]) =>
    rules.flatMap((rule) =>
      effectsOf(rule, channel, policy).map((effect) => `channels.${channel}, rule ${rule.id}: ${effect}`),
    ),
  ),
];
