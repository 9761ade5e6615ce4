/**
 * The facts of a pod that can be compared with another's. A report's facts come from a container; those of the
 * Kubernetes API have groups of their own, which no report can fill.
 */
interface GroupRow {
  /** The source of the group's facts. */
  readonly from: 'cluster' | 'probe';
  /**
   * `value`: one text each, compared as it is. `presence`: only whether it is there counts, its text is for people.
   * `number`: counts only far outside the others' range.
   */
  readonly how: 'value' | 'presence' | 'number';
  /** A set: a pod that reports other members of the group but not this one lacks it (a variable, a library). */
  readonly isSet?: true;
  /** Its members have nothing in common, so an equal one is reported by its name, not as one of `many`. */
  readonly isNamed?: true;
  /** The least distance of a number from the others that counts; in the number's own unit. */
  readonly floor?: number;
  readonly unit?: 'ms' | 'MiB' | 'min' | '%' | 'millicores';
  readonly one: string;
  readonly many: string;
}

/** The most important first: answers name differences in this order. */
const TABLE = {
  finding: { from: 'probe', how: 'presence', isSet: true, one: 'finding', many: 'findings' },
  version: { from: 'cluster', how: 'value', one: 'version', many: 'version' },
  image: { from: 'cluster', how: 'value', one: 'image of', many: 'images' },
  state: { from: 'cluster', how: 'value', one: '', many: 'states' },
  resources: { from: 'cluster', how: 'value', one: 'resources of', many: 'resources' },
  container: { from: 'cluster', how: 'value', isSet: true, one: 'container', many: 'containers' },
  env: { from: 'probe', how: 'value', isSet: true, one: 'environment variable', many: 'environment variables' },
  config: { from: 'probe', how: 'value', isSet: true, one: 'mounted file', many: 'mounted files' },
  command: { from: 'probe', how: 'value', one: 'command line', many: 'command line' },
  program: { from: 'probe', how: 'value', isSet: true, one: 'program or library', many: 'programs and libraries' },
  limit: { from: 'probe', how: 'value', one: 'limit', many: 'limits' },
  identity: { from: 'probe', how: 'value', one: '', many: 'users and rights' },
  dns: { from: 'probe', how: 'value', one: 'DNS', many: 'DNS settings' },
  label: { from: 'cluster', how: 'value', isSet: true, one: 'label', many: 'labels' },
  node: { from: 'cluster', how: 'value', one: '', many: 'node facts' },
  sockets: { from: 'probe', how: 'number', isSet: true, floor: 10, one: 'sockets', many: 'sockets' },
  peer: { from: 'probe', how: 'number', isSet: true, floor: 10, one: 'connections to', many: 'peers' },
  threads: { from: 'probe', how: 'number', floor: 10, one: '', many: 'processes and threads' },
  files: { from: 'probe', how: 'number', floor: 50, one: '', many: 'open files' },
  memory: { from: 'probe', how: 'number', floor: 64, unit: 'MiB', one: 'memory', many: 'memory' },
  cpu: { from: 'probe', how: 'number', floor: 200, unit: 'millicores', one: 'CPU', many: 'CPU' },
  share: { from: 'probe', how: 'number', isNamed: true, floor: 20, unit: '%', one: '', many: 'throttling and disks' },
  latency: {
    from: 'probe',
    how: 'number',
    isNamed: true,
    floor: 100,
    unit: 'ms',
    one: 'latency of',
    many: 'latencies',
  },
  restarts: { from: 'cluster', how: 'number', floor: 1, one: 'restarts of', many: 'restarts' },
  age: { from: 'cluster', how: 'number', floor: 60, unit: 'min', one: 'age', many: 'age' },
} as const satisfies Readonly<Record<string, GroupRow>>;

export type FactGroup = keyof typeof TABLE;

export const FACT_GROUPS: Readonly<Record<FactGroup, GroupRow>> = TABLE;

/** `value`: a number, words, or `#` and four hex digits, a hash under the run's key that says only "equal" or "not". */
export interface PodFact {
  readonly group: FactGroup;
  /** Empty in a group that holds one thing. */
  readonly name: string;
  readonly value: number | string;
}

export interface PodFacts {
  readonly facts: readonly PodFact[];
  /** Groups of which not all was told, so that what is not there may still be. */
  readonly cut: readonly FactGroup[];
}

/** A report's facts: at most so many, each name and text of at most so many characters. */
export const MAX_FACTS = 250;
const MAX_FACT_LENGTH = 80;

const isGroupOfProbe = (word: unknown): word is FactGroup =>
  typeof word === 'string' && Object.hasOwn(TABLE, word) && FACT_GROUPS[word as FactGroup].from === 'probe';

export const isHash = (value: number | string | undefined): boolean =>
  typeof value === 'string' && /^#[0-9a-f]{4}$/.test(value);

/**
 * The facts of a report: a list of `[value, group, name]`. Drops what has another form; `clean` makes foreign text one
 * redacted line. The value stands first because a log filter would take it for the secret that a name before it names.
 */
export function readFacts(
  { facts, factsCut }: { readonly facts?: unknown; readonly factsCut?: unknown },
  clean: (text: unknown, maxLength: number) => string | undefined,
): PodFacts | undefined {
  if (!Array.isArray(facts)) return undefined;
  const known = new Map<string, PodFact>();
  for (const item of facts.slice(0, MAX_FACTS)) {
    const fact = toFact(item, clean);
    if (fact) known.set(`${fact.group} ${fact.name}`, fact);
  }
  const cut = Array.isArray(factsCut) ? factsCut.slice(0, MAX_FACTS).filter(isGroupOfProbe) : [];
  return { facts: [...known.values()], cut: [...new Set(cut)] };
}

function toFact(item: unknown, clean: (text: unknown, maxLength: number) => string | undefined): PodFact | undefined {
  if (!Array.isArray(item)) return undefined;
  const [raw, group, named]: readonly unknown[] = item;
  if (!isGroupOfProbe(group)) return undefined;
  const name = named === '' ? '' : clean(named, MAX_FACT_LENGTH);
  const value = FACT_GROUPS[group].how === 'number' ? amountOf(raw) : clean(raw, MAX_FACT_LENGTH);
  return name === undefined || value === undefined ? undefined : { group, name, value };
}

const amountOf = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;

/** The facts of a probe, and its findings among them. */
export function withFindings(
  reported: PodFacts | undefined,
  findings: readonly { readonly code: string; readonly text: string }[],
): PodFacts {
  const found = findings.map(({ code, text }) => ({ group: 'finding' as const, name: code, value: text }));
  return { facts: [...found, ...(reported?.facts ?? [])], cut: reported?.cut ?? [] };
}
