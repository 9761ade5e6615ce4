/** A word that names nothing in `src/`, or only some things, and what to call them instead. */
export interface BannedName {
  /** One word of an identifier: `kept` finds `kept`, `isKept` and `keptLines`, in any case. */
  readonly word?: readonly string[];
  /** A whole identifier. */
  readonly name?: readonly string[];
  /** The last word of the name of a type or a class. */
  readonly type?: readonly string[];
  readonly instead: string;
  /** Files where the word means what it should. */
  readonly except?: RegExp;
}

/** The one list. docs/architecture.md, section "Words", has the words that are used. */
export const BANNED_NAMES: readonly BannedName[] = [
  { word: ['place', 'places', 'placed'], instead: 'destination, namespace, slot, range, address' },
  { word: ['take', 'takes', 'taken', 'taking', 'taker'], instead: 'accept, lease, claim, read, consume' },
  { word: ['keep', 'keeps', 'kept', 'keeper', 'keepers', 'keeping'], instead: 'record, store, retain, save, hold' },
  { word: ['asked', 'asking', 'asker'], instead: 'request, requester, context, votes, requested' },
  { word: ['said', 'told'], instead: 'post, posted, delivered, answer' },
  {
    word: ['tell', 'tells', 'telling'],
    instead: 'tell is a private answer of Slack; else notify, post',
    except: /^src\/(adapters\/slack|flow\/ports\/slack|flow\/reply)/,
  },
  { word: ['mend', 'mends', 'mended', 'mending'], instead: 'fix' },
  { word: ['hush'], instead: 'failPending' },
  { word: ['desk'], instead: 'inbox, commands' },
  { word: ['heed', 'heeded', 'heeding', 'deed', 'deeds'], instead: 'attempt, apply' },
  { name: ['late'], instead: 'lateEnd, timeout' },
  { name: ['moment', 'Moment'], instead: 'renderContext' },
  { name: ['see', 'sees'], instead: 'watch, read, observe, runToEnd' },
  { name: ['Made', 'Left', 'Kept', 'Given', 'Extra', 'MakePart'], instead: 'the noun that it holds' },
  {
    type: ['Verdict'],
    instead: 'a verdict is what a diagnosis comes to; else Judgement, Decision, Result',
    except: /^src\/core\/(diagnosis|run)\//,
  },
  {
    type: ['Answer'],
    instead: 'an answer is private, to a Slack user; else Result, Response',
    except: /^src\/(flow\/ports\/slack|flow\/inbox|flow\/context|adapters\/slack|core\/diagnosis\/first-answer)/,
  },
  {
    type: ['Outcome'],
    instead: 'an outcome is how a run ended; else Result',
    except: /^src\/core\/(outcome\.ts$|run\/|say\/|batch\/)/,
  },
];

/** Names that others gave: of Node, of a library, of a wire format. */
export const FOREIGN_NAMES: ReadonlySet<string> = new Set([
  'keepAlive',
  'keepAliveTimeout',
  'keepAliveInitialDelay',
  'keepAliveTimeoutThreshold',
  'keepAliveMaxTimeout',
  'KEEP_ALIVE_MS',
]);

/** Fields of stored runs, plans, sealed references and audit records: renaming one would break a rolling upgrade. */
export const STORED_NAMES: ReadonlySet<string> = new Set([
  'asked',
  'grantPlace',
  'kept',
  'late',
  'profileAsked',
  'told',
]);
