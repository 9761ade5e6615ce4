import { COMMAND } from '../../shown-names.ts';

/** The kind of value a flag takes; `switch` takes none. `line/values.ts` has a reader for each. */
export type ValueKind =
  | 'switch'
  | 'namespace'
  | 'cluster'
  | 'container'
  | 'selector'
  | 'image'
  | 'env'
  | 'env-name'
  | 'revision'
  | 'condition'
  | 'dump'
  | 'shots'
  | 'profile'
  | 'pull-policy'
  | 'duration'
  | 'reason'
  | 'replicas'
  | 'parallelism'
  | 'pod-part'
  | 'outcome'
  | 'page'
  | 'tail'
  | 'literal';

export const FLAG_GROUPS = ['target', 'container', 'run', 'batch', 'lookup'] as const;
export type FlagGroup = (typeof FLAG_GROUPS)[number];

export interface Flag {
  /** Without hyphens. */
  readonly name: string;
  readonly short?: string;
  readonly value: ValueKind;
  /** The value in usage lines; absent for a switch. */
  readonly placeholder?: string;
  readonly group: FlagGroup;
  readonly repeatable?: true;
  readonly help: string;
  readonly example: string;
}

/**
 * Every flag. The parser, the help and `docs/commands.md` read this table. Flags of `kubectl debug` keep their
 * spelling.
 */
const TABLE = [
  {
    name: 'namespace',
    short: 'n',
    value: 'namespace',
    placeholder: 'NS',
    group: 'target',
    help: 'The namespace of the pods. Default: the namespace of this channel, or of the cluster.',
    example: 'web-1 -n shop',
  },
  {
    name: 'selector',
    short: 'l',
    value: 'selector',
    placeholder: 'SELECTOR',
    group: 'target',
    help: 'All pods with these labels. Starts a batch.',
    example: "-l 'app=web,tier in (front,back)' -n shop",
  },
  {
    name: 'all',
    value: 'switch',
    group: 'target',
    help: 'All pods in the namespace. Starts a batch. With list: every channel that you approve for; with --mine, every channel.',
    example: '--all -n shop --image=security-audit',
  },
  {
    name: 'cluster',
    value: 'cluster',
    placeholder: 'NAME',
    group: 'target',
    help: 'The cluster, by its name in the policy. Default: the default cluster of the policy.',
    example: 'web-1 --cluster=prod',
  },
  {
    name: 'target',
    value: 'container',
    placeholder: 'CONTAINER',
    group: 'target',
    help: 'The container whose processes you want to see. Default: the main container of the pod.',
    example: 'web-1 --target=nginx',
  },
  {
    name: 'no-target',
    value: 'switch',
    group: 'target',
    help: 'Share only the network of the pod, and see no processes of its containers.',
    example: 'web-1 --no-target -- nslookup db',
  },
  {
    name: 'image',
    value: 'image',
    placeholder: 'ALIAS|REFERENCE',
    group: 'container',
    help: `The image to run: an alias from ${COMMAND} images, or a reference. Default: the default image of the policy.`,
    example: 'web-1 --image=autodiagnose',
  },
  {
    name: 'container',
    short: 'c',
    value: 'container',
    placeholder: 'NAME',
    group: 'container',
    help: 'A label for the run, shown in Slack. It does not name the container.',
    example: 'web-1 -c dns-check',
  },
  {
    name: 'env',
    value: 'env',
    placeholder: 'NAME=VALUE',
    group: 'container',
    repeatable: true,
    help: 'An environment variable for the container; a fixed image takes its settings only. May be repeated.',
    example: 'web-1 --image=debian --env=DEBUG=1 --env=PORT=8080 -- env',
  },
  {
    name: 'profile',
    value: 'profile',
    placeholder: 'PROFILE',
    group: 'container',
    help: 'What the container may do: auto (default), general, baseline, restricted, netadmin or sysadmin.',
    example: 'web-1 --image=debugger --profile=sysadmin',
  },
  {
    name: 'image-pull-policy',
    value: 'pull-policy',
    placeholder: 'POLICY',
    group: 'container',
    help: 'When to pull the image: Always, IfNotPresent or Never. Default: the cluster decides.',
    example: 'web-1 --image-pull-policy=Always',
  },
  {
    name: 'arguments-only',
    value: 'switch',
    group: 'container',
    help: 'Pass the words after -- to the default command of the image as arguments.',
    example: 'web-1 --image=debian --arguments-only -- -v',
  },
  {
    name: 'timeout',
    value: 'duration',
    placeholder: '5m',
    group: 'run',
    help: 'How long kdebug waits for the run: 90s, 5m, 1h30m. Default: what the policy sets for the image, or 5m.',
    example: 'web-1 --timeout=5m',
  },
  {
    name: 'reason',
    value: 'reason',
    placeholder: '"TEXT"',
    group: 'run',
    help: 'Why you need it. Approvers see it, and it goes into the audit log.',
    example: 'web-1 --reason="checkout is slow"',
  },
  {
    name: 'dry-run',
    value: 'switch',
    group: 'run',
    help: 'Show the plan and the decision. Starts nothing.',
    example: 'web-1 --image=debian --dry-run',
  },
  {
    name: 'replicas',
    value: 'replicas',
    placeholder: 'N',
    group: 'batch',
    help: 'The most pods to debug. Default: all that match.',
    example: '-l app=web --replicas=5',
  },
  {
    name: 'parallelism',
    value: 'parallelism',
    placeholder: 'P',
    group: 'batch',
    help: 'How many pods at the same time, 1 to 10. Default: 1.',
    example: '--all -n shop --parallelism=8',
  },
  {
    name: 'ttl',
    value: 'duration',
    placeholder: '30m',
    group: 'batch',
    help: 'Time limit for the whole batch, from its creation. Default: none.',
    example: '--all -n shop --ttl=30m',
  },
  {
    name: 'canary',
    value: 'switch',
    group: 'batch',
    help: 'Run on one pod first. The others wait until somebody checks its result and clicks Continue.',
    example: '-l app=web --canary',
  },
  { name: 'mine', value: 'switch', group: 'lookup', help: 'List only your own runs.', example: 'list --mine' },
  {
    name: 'pod',
    value: 'pod-part',
    placeholder: 'NAME',
    group: 'lookup',
    help: 'List only runs on pods whose name contains this.',
    example: 'list --pod=web',
  },
  {
    name: 'outcome',
    value: 'outcome',
    placeholder: 'WORD',
    group: 'lookup',
    help: 'List only runs with this outcome or state: problems, running, waiting, succeeded, failed, refused, timed-out …',
    example: 'list --outcome=problems',
  },
  {
    name: 'page',
    value: 'page',
    placeholder: 'N',
    group: 'lookup',
    help: 'The page of a list, ten runs each. Default: 1, the newest.',
    example: 'list --page=2',
  },
  {
    name: 'tail',
    value: 'tail',
    placeholder: 'N',
    group: 'lookup',
    help: 'Only the last N lines of a log.',
    example: 'logs abcdefgh23 --tail=100',
  },
  {
    name: 'since',
    value: 'duration',
    placeholder: '5m',
    group: 'lookup',
    help: 'Only log lines written within this time.',
    example: 'logs abcdefgh23 --since=5m',
  },
  {
    name: 'grep',
    value: 'literal',
    placeholder: '"TEXT"',
    group: 'lookup',
    help: 'Only log lines that contain this exact text, in upper or lower case.',
    example: 'logs abcdefgh23 --grep="connection refused"',
  },
  {
    name: 'without-env',
    value: 'env-name',
    placeholder: 'NAME',
    group: 'lookup',
    repeatable: true,
    help: 'Leave this variable of the container out of once-more. May be repeated.',
    example: 'once-more web-1 --without-env=JAVA_OPTS',
  },
  {
    name: 'image-of',
    value: 'revision',
    placeholder: 'REVISION',
    group: 'lookup',
    help: 'Run once-more with the image of another revision of the Deployment: previous, or its number.',
    example: 'once-more web-1 --image-of=previous',
  },
  {
    name: 'untraced',
    value: 'switch',
    group: 'lookup',
    help: 'Run once-more without the tracer of blackbox: then nothing can end the program.',
    example: 'once-more web-1 --untraced',
  },
  {
    name: 'when',
    value: 'condition',
    placeholder: 'CONDITION',
    group: 'lookup',
    repeatable: true,
    help: 'What watch waits for: memory>92%, fds>90%, threads>500, queue>100, port:8080>2s or quiet>60s. May be repeated.',
    example: 'watch web-1 --when="memory>92%"',
  },
  {
    name: 'then',
    value: 'dump',
    placeholder: 'DUMP',
    group: 'lookup',
    help: 'What watch takes then: stacks, or summary, which stops no thread. Default: stacks.',
    example: 'watch web-1 --when="fds>90%" --then=summary',
  },
  {
    name: 'for',
    value: 'duration',
    placeholder: '6h',
    group: 'lookup',
    help: 'How long watch waits, at most 12h, and 2m less than the maxTimeout of the policy. Default: 25m.',
    example: 'watch web-1 --when="quiet>60s" --for=6h',
  },
  {
    name: 'shots',
    value: 'shots',
    placeholder: 'N',
    group: 'lookup',
    help: 'How often watch looks, 1 to 3, at least 10 s apart. Default: 1.',
    example: 'watch web-1 --when="threads>500" --shots=3',
  },
] as const satisfies readonly Flag[];

export type FlagName = (typeof TABLE)[number]['name'];

export type KnownFlag = Flag & { readonly name: FlagName };

export const FLAGS: readonly KnownFlag[] = TABLE;

const BY_NAME: ReadonlyMap<string, KnownFlag> = new Map(FLAGS.map((flag) => [flag.name, flag]));
const BY_SHORT: ReadonlyMap<string, KnownFlag> = new Map(
  FLAGS.flatMap((flag) => (flag.short ? [[flag.short, flag]] : [])),
);

/** The flag with this long name (without hyphens). A map, so `__proto__` is just an unknown word. */
export const flagNamed = (name: string): KnownFlag | undefined => BY_NAME.get(name);

export const flagOfLetter = (letter: string): KnownFlag | undefined => BY_SHORT.get(letter);

/** `-n, --namespace=NS`, for usage lines. */
export const flagUsage = (flag: Flag): string =>
  `${flag.short ? `-${flag.short}, ` : ''}--${flag.name}${flag.placeholder ? `=${flag.placeholder}` : ''}`;

/** The flags of a request for a run: all but those of other verbs. */
export const RUN_FLAGS: readonly FlagName[] = FLAGS.filter(({ group }) => group !== 'lookup').map(({ name }) => name);

/** Flags that people paste from a shell; they change nothing here. Without hyphens. */
export const IGNORED: ReadonlySet<string> = new Set(['i', 't', 'it', 'ti', 'stdin', 'tty', 'attach']);

export const WHY_IGNORED = 'you cannot attach to a run; its output is posted in the thread';

/** Flags of kubectl debug that do not apply here, and why; without hyphens. */
export const KUBECTL_ONLY: ReadonlyMap<string, string> = new Map([
  ...['copy-to', 'replace', 'same-node', 'set-image', 'share-processes'].map(
    (name) => [name, 'kdebug adds a container to the running pod and never makes a copy; leave it out.'] as const,
  ),
  ['custom', 'Only --profile and the policy decide what the container may do.'],
  ['q', 'It has no effect here; leave it out.'],
  ['quiet', 'It has no effect here; leave it out.'],
  ['all-namespaces', 'Name one namespace with -n.'],
  ['A', 'Name one namespace with -n.'],
]);
