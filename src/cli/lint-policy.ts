import { loadPolicy } from '../config/load-policy.ts';
import { isPinned } from '../core/command/image-reference.ts';
import { identityNotes } from '../core/policy/identity-notes.ts';
import { formatCount } from '../core/report/duration.ts';

/**
 * Checks a policy file and says what is wrong with it, one problem a line. Answers with the exit code: 0 fine, 1
 * problems. Notes on what is allowed but weak (an image by tag) change no code. Contacts nobody: what a cluster or Slack would have to confirm is for the doctor.
 */
export function lintPolicy(path: string, out: (line: string) => void): number {
  const loaded = loadPolicy(path);
  if (loaded.kind === 'invalid') {
    for (const problem of loaded.problems) out(problem);
    out(formatCount(loaded.problems.length, 'problem'));
    return 1;
  }
  const channels = Object.values(loaded.policy.channels);
  const counts = [
    formatCount(channels.length, 'channel'),
    formatCount(channels.flatMap(({ rules }) => rules).length, 'rule'),
    formatCount(Object.keys(loaded.policy.images).length, 'image'),
  ];
  for (const [alias, { reference }] of Object.entries(loaded.policy.images))
    if (!isPinned(reference))
      out(`note: images.${alias} is a tag, which may be moved after an approval; best pin its digest (NAME@sha256:…)`);
  for (const note of identityNotes(loaded.policy)) out(`note: ${note}`);
  out(`${path} is fine: ${counts.join(', ')}`);
  return 0;
}
