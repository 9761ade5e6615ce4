/**
 * The kinds of files that an image may hand back, by the ending of the file's name. An alias of the policy names the
 * kinds it may bring (`files`); kdebug takes no others.
 */
export const FILE_KINDS = ['text', 'profile', 'capture', 'heap'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

interface Ending {
  readonly ending: string;
  readonly kind: FileKind;
  /** Text, so the log filter redacts it. In other files redaction would break the file, and could not see inside. */
  readonly isRedacted: boolean;
}

/** The first that fits counts. A name with any other ending is refused. */
export const FILE_ENDINGS: readonly Ending[] = [
  { ending: '.speedscope.json', kind: 'profile', isRedacted: true },
  { ending: '.cpuprofile', kind: 'profile', isRedacted: true },
  { ending: '.folded', kind: 'profile', isRedacted: true },
  { ending: '.svg', kind: 'profile', isRedacted: true },
  { ending: '.pb.gz', kind: 'profile', isRedacted: false },
  { ending: '.png', kind: 'profile', isRedacted: false },
  { ending: '.txt', kind: 'text', isRedacted: true },
  { ending: '.log', kind: 'text', isRedacted: true },
  { ending: '.json', kind: 'text', isRedacted: true },
  { ending: '.csv', kind: 'text', isRedacted: true },
  { ending: '.pcap', kind: 'capture', isRedacted: false },
  { ending: '.hprof', kind: 'heap', isRedacted: false },
];

/** Undefined: no kind has this ending. */
export const endingOf = (name: string): Ending | undefined => FILE_ENDINGS.find(({ ending }) => name.endsWith(ending));

/** Kinds that may hold what the target said or kept in memory: for the requester alone, and only after an approval. */
const SECRET_KINDS: ReadonlySet<FileKind> = new Set(['capture', 'heap']);

export const isSecretKind = (kind: FileKind): boolean => SECRET_KINDS.has(kind);
