import type { Completion, PagePod, Word } from '../../contract.ts';

export interface Known {
  readonly completion: Completion;
  readonly pods: readonly PagePod[];
  readonly inThread: boolean;
}

export interface Suggestion {
  readonly label: string;
  readonly does: string;
  /** What the piece becomes; a word that is whole ends with a space. */
  readonly insert: string;
}

export interface Suggestions {
  /** The piece of the text that a suggestion replaces. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly Suggestion[];
}

const NONE: Suggestions = { from: 0, to: 0, items: [] };
const MAX_ENTRIES = 8;
const ADDRESSED = /^(\/kdebug|@kdebug)\s/;

/** What could be meant by the word in which the caret stands. Nothing within the command after `--`, nor when it is whole already. */
export function suggest(text: string, caret: number, known: Known): Suggestions {
  const before = text.slice(0, caret);
  const from = before.search(/\S*$/);
  const word = before.slice(from);
  const at = { from, to: caret };
  if (from === 0) return offer(at, opening(word, known));
  const mention = /(?:^|\s)@\w*$/.test(before) && !ADDRESSED.test(text);
  if (mention) return offer(at, opening(word, known));
  if (!ADDRESSED.test(before) || / -- /.test(before)) return NONE;
  const earlier = before.slice(0, from).trim().split(/\s+/).slice(1);
  return inCommand({ word, earlier, at }, known);
}

interface Place {
  readonly word: string;
  /** The words between `/kdebug` and this one. */
  readonly earlier: readonly string[];
  readonly at: { readonly from: number; readonly to: number };
}

const offer = (at: Place['at'], items: readonly Suggestion[]): Suggestions =>
  items.length === 0 ? NONE : { ...at, items: items.slice(0, MAX_ENTRIES) };

function opening(word: string, { inThread }: Known): readonly Suggestion[] {
  const command = { label: '/kdebug', does: 'Debug a running pod: POD [--image=IMAGE] [flags]', insert: '/kdebug ' };
  const mention = { label: '@kdebug', does: 'The same, answered in the thread', insert: '@kdebug ' };
  // Slack does not take slash commands in threads.
  const invite = { label: '/invite', does: 'Let kdebug into this channel', insert: '/invite @kdebug' };
  const all = inThread ? [mention] : [command, mention, invite];
  return word === '' ? [] : all.filter(({ label }) => label.startsWith(word.toLowerCase()));
}

function inCommand({ word, earlier, at }: Place, known: Known): Suggestions {
  const flagged = /^--([a-z-]+)=(.*)$/.exec(word);
  if (flagged) {
    const start = at.to - (flagged[2] ?? '').length;
    const values = valuesOf(flagged[1] ?? '', earlier, known);
    return offer({ from: start, to: at.to }, matching(values, flagged[2] ?? '', ' '));
  }
  const previous = earlier.at(-1) ?? '';
  if (previous === '-n' || previous === '--namespace')
    return offer(at, matching(valuesOf('namespace', earlier, known), word, ' '));
  if (previous === '-c' || previous === '--target')
    return offer(at, matching(valuesOf('target', earlier, known), word, ' '));
  if (previous === '--image') return offer(at, matching(valuesOf('image', earlier, known), word, ' '));
  if (word.startsWith('-')) return offer(at, flags(word, earlier, known));
  return offer(at, words(word, earlier, known));
}

/** Verbs and pods where a target may stand; after that the flags, unasked. */
function words(word: string, earlier: readonly string[], known: Known): readonly Suggestion[] {
  const [first] = earlier;
  const pods = known.pods.map(({ name, namespace, phase }) => ({ word: name, does: `pod in ${namespace}, ${phase}` }));
  if (first === undefined) return [...matching(pods, word, ' '), ...matching(known.completion.verbs, word, ' ')];
  const verb = known.completion.verbs.find((one) => one.word === first);
  if (verb !== undefined && earlier.length === 1) return matching(pods, word, ' ');
  return word === '' && verb === undefined ? flags('--', earlier, known) : [];
}

function flags(word: string, earlier: readonly string[], { completion }: Known): readonly Suggestion[] {
  const used = new Set(earlier.map((one) => one.replace(/=.*/, '')));
  return completion.flags
    .filter((flag) => flag.word.startsWith(word) && !used.has(flag.word))
    .map((flag) => ({
      label: flag.word,
      does: flag.does,
      insert: flag.values === undefined && !VALUED.has(flag.word) ? `${flag.word} ` : `${flag.word}=`,
    }));
}

/** Flags that take a value which nobody can list. */
const VALUED: ReadonlySet<string> = new Set(
  ['selector', 'target', 'container', 'env', 'timeout', 'reason', 'replicas', 'parallelism', 'ttl'].map(
    (name) => `--${name}`,
  ),
);

function valuesOf(flag: string, earlier: readonly string[], { completion, pods }: Known): readonly Word[] {
  if (flag === 'image') return completion.images;
  if (flag === 'namespace') return completion.namespaces.map((word) => ({ word, does: 'namespace' }));
  if (flag === 'target') {
    const pod = pods.find(({ name }) => earlier.includes(name) || earlier.includes(`pod/${name}`));
    const own = pod?.containers.filter(({ kind }) => kind === 'container') ?? [];
    return own.map(({ name, image }) => ({ word: name, does: image }));
  }
  const values = completion.flags.find(({ word }) => word === `--${flag}`)?.values ?? [];
  return values.map((word) => ({ word, does: '' }));
}

/** Those that begin so, then those that contain it; none once the word is there in full. */
function matching(all: readonly Word[], typed: string, after: string): readonly Suggestion[] {
  if (all.some(({ word }) => word === typed)) return [];
  const begins = all.filter(({ word }) => word.startsWith(typed));
  const holds = all.filter(({ word }) => !word.startsWith(typed) && typed.length > 1 && word.includes(typed));
  return [...begins, ...holds].map(({ word, does }) => ({ label: word, does, insert: `${word}${after}` }));
}
