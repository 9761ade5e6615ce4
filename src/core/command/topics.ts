import { FLAG_GROUPS, FLAGS, flagNamed, flagOfLetter } from './flags.ts';
import { VERBS } from './verbs.ts';

const PAGES: readonly string[] = ['flags', ...FLAG_GROUPS, 'verbs', 'profiles', ...VERBS.map((verb) => verb.name)];

/** Everything that `help TOPIC` knows; flags are written with their hyphens. */
export const TOPICS: readonly string[] = [...PAGES, ...FLAGS.map((flag) => `--${flag.name}`)];

/** The topic that a person means: `Flags` is `flags`; `image`, `--image` and `-n` are flags. `undefined`: there is none. */
export function findTopic(word: string): string | undefined {
  const wanted = word.toLowerCase();
  if (PAGES.includes(wanted)) return wanted;
  const bare = wanted.replace(/^-{1,2}/, '');
  const flag = flagNamed(bare) ?? flagOfLetter(bare);
  return flag && `--${flag.name}`;
}
