import { equalWords, othersWords, type Question, rangeOf, sickWords } from './fact-words.ts';
import { FACT_GROUPS, type FactGroup, type PodFact, type PodFacts } from './facts.ts';

/** One pod's facts: those of the cluster, and those of its probe if that told any. */
export interface ComparedPod {
  readonly name: string;
  readonly cluster?: PodFacts | undefined;
  readonly probe?: PodFacts | undefined;
}

/** Something that only the sick pod has. */
export interface Difference {
  readonly group: FactGroup;
  readonly name: string;
  /** `environment variable DB_HOST has another value`, `CLOSE_WAIT sockets: 412`. */
  readonly sick: string;
  /** `others: at most 3`; empty where `sick` says it. */
  readonly others: string;
}

export interface ComparisonResult {
  /** The most important first. */
  readonly differences: readonly Difference[];
  /** The equal facts: `version, 34 environment variables, 9 limits`; empty if there are none. */
  readonly equal: string;
  /** The parts that could not be compared, in sentences. */
  readonly notes: readonly string[];
}

/** A number counts only beyond this multiple of all siblings', or below their part. */
const FAR = 3;

const GROUPS = Object.keys(FACT_GROUPS) as readonly FactGroup[];

/**
 * Finds the differences between the sick pod and its siblings. Words count if it differs from all siblings and these
 * agree, a number if it is far outside their range. A pod that told nothing of a group takes no part in it. Pure.
 */
export function comparePods(sick: ComparedPod, siblings: readonly ComparedPod[]): ComparisonResult {
  const differences: Difference[] = [];
  const equal: string[] = [];
  for (const group of GROUPS) {
    const compared = compareGroup(group, sick, siblings);
    differences.push(...compared.differences);
    if (compared.equal.length > 0) equal.push(equalWords(group, compared.equal));
  }
  return { differences, equal: equal.join(', '), notes: notesOn(sick, siblings) };
}

interface GroupResult {
  readonly differences: readonly Difference[];
  /** The names of what is equal. */
  readonly equal: readonly string[];
}

const NOTHING: GroupResult = { differences: [], equal: [] };

function compareGroup(group: FactGroup, sick: ComparedPod, siblings: readonly ComparedPod[]): GroupResult {
  const mine = valuesOf(sick, group);
  const theirs = siblings.flatMap((sibling) => valuesOf(sibling, group) ?? []);
  if (!mine || theirs.length === 0) return NOTHING;
  // A list that was cut may have held it.
  const isCut = [mine, ...theirs].some(({ isCut: one }) => one);
  const names = new Set([mine, ...theirs].flatMap(({ values }) => [...values.keys()]));
  const differences: Difference[] = [];
  const equal: string[] = [];
  for (const name of names) {
    const question = { group, name, sick: mine.values.get(name), others: theirs.map(({ values }) => values.get(name)) };
    const verdict = judge(question, isCut);
    if (verdict === 'equal') equal.push(name);
    if (verdict === 'differs')
      differences.push({ group, name, sick: sickWords(question), others: othersWords(question) });
  }
  return { differences, equal };
}

interface GroupValues {
  readonly values: ReadonlyMap<string, PodFact['value']>;
  readonly isCut: boolean;
}

/** Undefined if the pod told nothing of the group. A probe that ran has looked for findings and peers, and may have none. */
function valuesOf(pod: ComparedPod, group: FactGroup): GroupValues | undefined {
  const source = pod[FACT_GROUPS[group].from];
  if (!source) return undefined;
  const values = new Map(source.facts.flatMap((fact) => (fact.group === group ? [[fact.name, fact.value]] : [])));
  if (values.size === 0 && !MAY_BE_NONE.has(group)) return undefined;
  return { values, isCut: source.cut.includes(group) };
}

const MAY_BE_NONE: ReadonlySet<FactGroup> = new Set(['finding', 'peer', 'label']);

function judge(question: Question, isCut: boolean): 'equal' | 'differs' | undefined {
  const { group, sick, others } = question;
  const { how, isSet } = FACT_GROUPS[group];
  const isMissing = [sick, ...others].includes(undefined);
  if (isMissing && (!isSet || isCut)) return undefined;
  if (how === 'number') return judgeNumber(question);
  const compared = how === 'presence' ? [sick, ...others].map((value) => value !== undefined) : [sick, ...others];
  const [mine, first] = compared;
  if (compared.slice(1).some((value) => value !== first)) return undefined;
  return mine === first ? 'equal' : 'differs';
}

/** Missing values count as 0. Counters are rarely equal, so a value within the siblings' range counts as equal. */
function judgeNumber({ group, sick, others }: Question): 'equal' | 'differs' {
  const value = Number(sick ?? 0);
  const [least, most] = rangeOf(others);
  const { floor = 1 } = FACT_GROUPS[group];
  const isAbove = value > FAR * most && value - most >= floor;
  const isBelow = FAR * value < least && least - value >= floor;
  return isAbove || isBelow ? 'differs' : 'equal';
}

function notesOn(sick: ComparedPod, siblings: readonly ComparedPod[]): readonly string[] {
  const silent = [sick, ...siblings].filter(({ probe }) => !probe);
  const looked = siblings.filter(({ probe }) => probe);
  if (silent.length === 0) return cutNotes([sick, ...siblings]);
  if (!sick.probe || looked.length === 0) {
    const who = sick.probe ? 'the siblings' : sick.name;
    return [`No report from ${who}, so only the Kubernetes status is compared.`];
  }
  const names = silent.map(({ name }) => name).join(', ');
  return [
    `No report from ${names}, so only the Kubernetes status of these is compared.`,
    ...cutNotes([sick, ...looked]),
  ];
}

function cutNotes(pods: readonly ComparedPod[]): readonly string[] {
  const groups = GROUPS.filter((group) => pods.some(({ probe }) => probe?.cut.includes(group)));
  if (groups.length === 0) return [];
  return [`Too many differences to list: ${groups.map((group) => FACT_GROUPS[group].many).join(', ')}.`];
}
