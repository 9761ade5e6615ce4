import { nearest } from '../../../lib/text.ts';
import { FLAG_GROUPS, FLAGS, type FlagName, flagNamed, flagOfLetter, RUN_FLAGS } from './flags.ts';

/** The arguments that a verb takes besides flags. `run` and `can-i` also take a target and the words after `--`. */
export interface Verb {
  readonly name: string;
  /** Usage, without `/kdebug`. */
  readonly usage: string;
  readonly help: string;
  readonly example: string;
  readonly flags: readonly FlagName[];
}

const NONE: readonly FlagName[] = [];
const NAMESPACE_FLAGS: readonly FlagName[] = ['namespace', 'cluster'];
const SCALE: readonly FlagName[] = ['parallelism', 'replicas'];
const LIST_FLAGS: readonly FlagName[] = ['mine', 'all', 'pod', 'outcome', 'page'];
const COMPARE_FLAGS: readonly FlagName[] = [...NAMESPACE_FLAGS, 'target', 'profile', 'timeout', 'reason', 'dry-run'];
const ONCE_MORE_FLAGS: readonly FlagName[] = [
  ...NAMESPACE_FLAGS,
  ...(['target', 'without-env', 'image-of', 'untraced', 'timeout', 'reason', 'dry-run'] as const),
];
const WATCH_FLAGS: readonly FlagName[] = [
  ...NAMESPACE_FLAGS,
  ...(['target', 'profile', 'reason', 'dry-run', 'when', 'then', 'for', 'shots'] as const),
];
const LOG_FLAGS: readonly FlagName[] = ['tail', 'since', 'grep'];

/** Every verb. The parser, the help and `docs/commands.md` read this table. */
const TABLE = [
  {
    name: 'help',
    usage: 'help [TOPIC]',
    help: 'Show this help, or help on a verb, a flag or a topic.',
    example: 'help flags',
    flags: NONE,
  },
  {
    name: 'list',
    usage: 'list [--mine] [--all] [--pod=NAME] [--outcome=WORD] [--page=N]',
    help: 'List the latest runs in this channel, ten per page, with links.',
    example: 'list --outcome=problems',
    flags: LIST_FLAGS,
  },
  {
    name: 'show',
    usage: 'show ID',
    help: 'Show one run: its result, plan, approvals, log and links.',
    example: 'show abcdefgh23',
    flags: NONE,
  },
  {
    name: 'logs',
    usage: 'logs ID [--tail=N] [--since=5m] [--grep=TEXT]',
    help: 'Show the log of a finished or running run: its first and last lines, or the lines that you choose.',
    example: 'logs abcdefgh23 --grep=error',
    flags: LOG_FLAGS,
  },
  {
    name: 'stop',
    usage: 'stop ID',
    help: 'Stop a run: its processes get a signal. A batch starts no more pods; a waiting request is withdrawn.',
    example: 'stop abcdefgh23',
    flags: NONE,
  },
  {
    name: 'rerun',
    usage: 'rerun ID',
    help: 'Run the same request again, as you, in the same thread. The policy decides again.',
    example: 'rerun abcdefgh23',
    flags: NONE,
  },
  {
    name: 'describe',
    usage: 'describe POD [-n NS]',
    help: 'Show the state of a pod and what this channel may run in it. Starts nothing.',
    example: 'describe web-1 -n shop',
    flags: NAMESPACE_FLAGS,
  },
  {
    name: 'compare',
    usage: 'compare POD [-n NS] [--target=CONTAINER] [--profile=PROFILE]',
    help: 'Look at a pod and up to two healthy pods of its owner, and show what only that pod has. Each gets a debug container.',
    example: 'compare web-1 -n shop',
    flags: COMPARE_FLAGS,
  },
  {
    name: 'once-more',
    usage: 'once-more POD [-n NS] [--target=CONTAINER] [--without-env=NAME] [--image-of=REVISION] [--untraced]',
    help: 'Run the program of a container that dies at once a second time beside its pod, and watch how it ends. Needs an approval.',
    example: 'once-more web-1 -n shop --reason="dies at start"',
    flags: ONCE_MORE_FLAGS,
  },
  {
    name: 'watch',
    usage: 'watch POD --when=CONDITION [--then=DUMP] [--for=25m] [--shots=N] [-n NS]',
    help: 'Wait beside a container until a condition holds, and take its stacks at that moment; also at its death. Stop disarms it.',
    example: 'watch web-1 --when="memory>92%" --for=6h',
    flags: WATCH_FLAGS,
  },
  {
    name: 'images',
    usage: 'images',
    help: 'List the images that this channel may use.',
    example: 'images',
    flags: NONE,
  },
  {
    name: 'whoami',
    usage: 'whoami',
    help: 'Show who you are to the cluster, your groups, and the rules of this channel.',
    example: 'whoami',
    flags: NONE,
  },
  {
    name: 'can-i',
    usage: 'can-i [once-more | watch] POD [flags]',
    help: 'Check whether this command would be allowed, and by which rule. Starts nothing.',
    example: 'can-i web-1 -n shop --image=debian',
    flags: RUN_FLAGS,
  },
  {
    name: 'batch',
    usage: 'batch ID [pause | resume | continue | cancel | --parallelism=P --replicas=N]',
    help: 'Show a batch, pause, continue or cancel it, or change its size.',
    example: 'batch abcdefgh23 --parallelism=4',
    flags: SCALE,
  },
  {
    name: 'export',
    usage: 'export ID',
    help: 'Get a batch as the YAML of an EphemeralJob, to store or apply again.',
    example: 'export abcdefgh23',
    flags: NONE,
  },
  {
    name: 'apply',
    usage: 'apply [-n NS]',
    help: 'Run an EphemeralJob. Paste its YAML into the form, or into a code block on the next lines.',
    example: 'apply -n shop',
    flags: NAMESPACE_FLAGS,
  },
] as const satisfies readonly Verb[];

export type VerbName = (typeof TABLE)[number]['name'];
export type KnownVerb = Verb & { readonly name: VerbName };

export const VERBS: readonly KnownVerb[] = TABLE;

const BY_NAME: ReadonlyMap<string, KnownVerb> = new Map(VERBS.map((verb) => [verb.name, verb]));

/** The verb of this name. `Show` is `show`: phones capitalise the first word. */
export const verbNamed = (word: string): KnownVerb | undefined => BY_NAME.get(word.toLowerCase());

/** Words for the same verb in other tools, or that people ask bots for. */
const ALSO: ReadonlyMap<string, VerbName> = new Map([
  ...(['ls', 'ps', 'status', 'runs', 'history'] as const).map((word) => [word, 'list'] as const),
  ...(['?', 'man', 'usage', 'version', 'info', 'commands'] as const).map((word) => [word, 'help'] as const),
  ['who', 'whoami'],
]);

/** The verb that a mistyped word probably means. Also a better hint when there is no pod named `hlep`. */
export function verbNear(word: string): KnownVerb | undefined {
  const plain = word.replace(/[!?.,]{1,3}$/, '').toLowerCase();
  const guess =
    ALSO.get(plain === '' ? word.charAt(0) : plain) ??
    nearest(
      plain,
      VERBS.map((verb) => verb.name),
    );
  return guess === undefined ? undefined : verbNamed(guess);
}

const PAGES: readonly string[] = ['flags', ...FLAG_GROUPS, 'verbs', 'profiles', ...VERBS.map((verb) => verb.name)];

/** Every topic of `help TOPIC`; flags with their hyphens. */
export const TOPICS: readonly string[] = [...PAGES, ...FLAGS.map((flag) => `--${flag.name}`)];

/** The topic a person means: `Flags` is `flags`; `image`, `--image` and `-n` are flags. */
export function findTopic(word: string): string | undefined {
  const wanted = word.toLowerCase();
  if (PAGES.includes(wanted)) return wanted;
  const bare = wanted.replace(/^-{1,2}/, '');
  const flag = flagNamed(bare) ?? flagOfLetter(bare);
  return flag && `--${flag.name}`;
}
