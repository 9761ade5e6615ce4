import { formatBytes, formatCount, shortDuration } from '../../lib/duration.ts';
import { defined } from '../../lib/object.ts';
import { capitalized, shorten } from '../../lib/text.ts';
import type { Plan } from '../container/plan.ts';
import type { Pod } from '../container/pod.ts';
import { admits } from '../container/profiles.ts';
import { VERDICT_LINE_LENGTH } from '../line-lengths.ts';
import type { Outcome } from '../outcome.ts';
import type { Policy } from '../policy/policy.ts';
import { WAITING_IMAGE } from '../request/tripwire.ts';
import type { ClusterFacts } from './facts/facts.ts';
import type { Diagnosis, Finding, Help, Section } from './facts/report.ts';
import type { Runtime } from './facts/rules.ts';
import { chartsOf } from './facts/series.ts';
import type { Evidence, LookAgain, Verdict } from './facts/verdict.ts';
import { findingRule, isDeath, isWrong, leadsOf, MAX_FINDINGS, ordered, shown } from './findings.ts';
import { evidenceOf } from './first-answer.ts';
import { asTargetUser, leadsInside, nextImageOf } from './images/next-image.ts';
import { lookAtCluster } from './look-at-cluster.ts';
import { isReady, isStarting, partsOf } from './reading/pod-containers.ts';
import { MAX_UNSEEN, unseenOf } from './reading/unseen.ts';
import { startFindings } from './rules/resources.ts';

export { FINDINGS, findingRule } from './findings.ts';

/** The report says how a process ended: its last words are newer than all that was read before the look. */
export const reportsDeath = (diagnosis: Diagnosis | undefined): boolean => diagnosis?.findings.some(isDeath) === true;

/**
 * The verdict on a report, merged with the Kubernetes API's facts if the pod still exists, and with what `first`, the
 * answer before the look, had from the logs and the last words, unless the facts have newer ones. Causes stand before
 * effects, then findings are ordered by rank and by how far they exceed their threshold; the first of them may lead to another image of the policy, and so
 * may a target without any. `healthy` only where the first answer was and the image sees inside the program. Pure: equal data give
 * equal text.
 */
export function verdictOf(
  diagnosis: Diagnosis,
  plan: Plan,
  facts: ClusterFacts | undefined,
  policy: Pick<Policy, 'images' | 'channels'> = { images: {}, channels: {} },
  first?: Verdict,
): Verdict {
  const clusterFindings = facts ? lookAtCluster(facts) : {};
  const ofCluster = withFirst(Object.values(clusterFindings).flat(), hasLogs(facts) ? undefined : first);
  const findings = ordered([...diagnosis.findings.map((found) => asOfStart(found, plan, facts)), ...ofCluster]);
  const ownFine = Object.keys(clusterFindings).filter((name) => clusterFindings[name]?.length === 0);
  const fine = [...diagnosis.sections.filter(({ state }) => state === 'ok').map(({ name }) => name), ...ownFine].filter(
    // Its memory is no good news after a kill for lack of it, nor are warnings that are not all read.
    (name) =>
      !(name === 'memory' && findings.some(({ code }) => code === 'last_oom_killed')) &&
      !((name === 'probes' || name === 'events') && lacksWarnings(facts).length > 0),
  );
  const lookAgain = lookAgainOf(diagnosis, plan, facts?.pod);
  const isQuiet = !findings.some(isWrong);
  const next = nextImageOf([...leadsOf(findings), ...(isQuiet ? leadsInside(diagnosis.target?.runtime) : [])], {
    target: diagnosis.target,
    plan,
    isRunning: facts !== undefined && runsIn(facts.pod, plan.targetContainerName),
    policy,
    lookAgain,
    mayTryGeneral: mayTryGeneral(plan, facts?.pod),
  });
  const unseen = [...unseenSections(diagnosis, lookAgain), ...unseenOfCluster(facts, first)];
  const charts = chartsOf(diagnosis.series ?? [], new Set(diagnosis.findings.map(sectionOf)));
  const sawInside = isQuiet && diagnosis.unsure !== true && !couldNotLook(diagnosis) && seesInside(diagnosis);
  const quiet = whileReady(first, facts);
  const isWell = sawInside && quiet?.healthy === true && lacksWarnings(facts).length === 0;
  return {
    line: lineOf(diagnosis, findings, { ...quiet, isWell }),
    findings: findings.slice(0, MAX_FINDINGS).map(shown),
    ...defined({
      healthy: isWell || undefined,
      readAtMs: first?.readAtMs,
      changed: first?.changed,
      evidence: evidenceFor(findings, facts, first),
      more: findings.length > MAX_FINDINGS ? findings.length - MAX_FINDINGS : undefined,
      fine: fine.length > 0 ? [...new Set(fine)].join(', ') : undefined,
      unseen: unseen.length > 0 ? bounded(unseen) : undefined,
      charts: charts.length > 0 ? charts : undefined,
      lookAgain,
    }),
    ...next,
    by: byLine(diagnosis, plan),
    ...defined({ siblings: first?.siblings }),
  };
}

/** A program that is paused for more of its start, in percent, does nothing but compute. */
const PAUSED_OFTEN = 90;

/** Every start computes: that it has too little CPU for a minute is worth knowing. */
function asOfStart(found: Finding, { targetContainerName }: Plan, facts: ClusterFacts | undefined): Finding {
  const part = facts && partsOf(facts.pod).find(({ name }) => name === targetContainerName);
  const isNew = part?.status?.running && facts && isStarting({ ...part, spec: undefined }, facts.nowMs);
  const { code, value = 100 } = found;
  const isOfStart = code === 'waits_for_cpu' || (code === 'cpu_throttled' && value <= PAUSED_OFTEN);
  return isNew && isOfStart ? { ...found, rank: 3 } : found;
}

const whileReady = (first: Verdict | undefined, facts: ClusterFacts | undefined): Verdict | undefined =>
  facts && isReady(facts.pod) ? first : undefined;

/** They have the logs of now, or say why not: what was read before the look is old. */
const hasLogs = (facts: ClusterFacts | undefined): facts is ClusterFacts => facts?.logs !== undefined;

/** Of our images, those that cannot tell a program that hangs from one that is idle: that they found nothing is no good news. */
const OUTSIDE: ReadonlySet<string> = new Set(['autodiagnose', 'net', 'profile', WAITING_IMAGE]);
/** Whose functions the image stacks sees; of all others only what the kernel shows. */
const SEEN_RUNTIMES: ReadonlySet<Runtime | undefined> = new Set<Runtime>(['jvm', 'python', 'node', 'go']);

const seesInside = ({ tool, target }: Diagnosis): boolean =>
  !OUTSIDE.has(tool?.name ?? '') && (tool?.name !== 'stacks' || SEEN_RUNTIMES.has(target?.runtime));

/** An image that saw nothing says nothing good; nor does one that could not see what it is named after. */
const couldNotLook = ({ verdict, tool, sections }: Diagnosis): boolean =>
  /^could not (?:look|profile)\b/i.test(verdict) ||
  sections.some(({ name, state }) => name === tool?.name && state === 'not-readable') ||
  (sections.some(({ state }) => state === 'not-readable') &&
    sections.every(({ state }) => state === 'not-readable' || state === 'not-looked-at'));

const names = (text: string, container: string): boolean => text.split(/[\s’:,]+/).includes(container);

const LOG = 'log_errors';

/**
 * The API's findings, with the words of the first answer where only the logs had them: the log's own finding, and the
 * sentence with the last words of a container that has ended since no further time.
 */
function withFirst(findings: readonly Finding[], first: Verdict | undefined): readonly Finding[] {
  const ofFirst = first?.findings ?? [];
  const worded = findings.map((finding): Finding => {
    const quotation = ofFirst.find(
      ({ code, text }) => code === finding.code && text.includes('“') && names(text, finding.containerName ?? ''),
    );
    const isFresh = finding.containerName === undefined || finding.text.includes('“') || !quotation;
    return isFresh ? finding : { ...finding, text: quotation.text, next: quotation.next };
  });
  const hasOwn = findings.some(({ code }) => code === LOG);
  const log = hasOwn ? [] : ofFirst.filter(({ code }) => code === LOG);
  return [
    ...worded,
    ...log.map(({ text, next, rank, explains }) => ({ code: LOG, text, next, ...defined({ rank, explains }) })),
  ];
}

function evidenceFor(
  findings: readonly Finding[],
  facts: ClusterFacts | undefined,
  first: Verdict | undefined,
): readonly Evidence[] | undefined {
  if (!hasLogs(facts)) return first?.evidence;
  const evidence = evidenceOf(facts, findings);
  return evidence.length > 0 ? evidence : undefined;
}

/** Explains a run without a report by the API's facts; undefined if they explain nothing. */
export function explanationOf(facts: ClusterFacts, plan: Plan, outcome: Outcome): Verdict | undefined {
  const seen = [...startFindings(facts.pod, plan, outcome), ...Object.values(lookAtCluster(facts)).flat()];
  const wrong = ordered(seen).filter(isWrong);
  return wrong.length === 0 ? undefined : { findings: wrong.slice(0, MAX_FINDINGS).map(shown) };
}

const runsIn = (pod: Pod, name: string | undefined): boolean =>
  partsOf(pod).some((part) => part.name === name && part.status?.running !== undefined);

const sectionOf = ({ code, section }: Finding): string | undefined => section ?? findingRule(code)?.section;

/** What the first answer found well, of a pod that still is ready. */
interface Quiet extends Pick<Verdict, 'well' | 'groups'> {
  readonly isWell: boolean;
}

/** The worst finding's own words; without one, what is well, what was looked at and what nobody looked at. */
function lineOf(diagnosis: Diagnosis, findings: readonly Finding[], quiet: Quiet): string {
  const { verdict } = diagnosis;
  const isKnown = findings.some(({ code }) => findingRule(code));
  const [worst] = findings;
  if (worst && isKnown && isWrong(worst)) return shorten(worst.text, VERDICT_LINE_LENGTH);
  // The question was whether the condition comes: that it did not come is the answer.
  if (couldNotLook(diagnosis) || diagnosis.tool?.name === WAITING_IMAGE) return verdict;
  if (!isKnown) return quietLine(diagnosis, quiet);
  const words = `worth knowing: ${findings.map(({ text }) => text).join('; ')}`;
  // A line of the log stands behind what was measured.
  const isAllOfLog = findings.every(({ code }) => code === LOG);
  const lead = isAllOfLog ? quietLine(diagnosis, quiet).replace(/\.$/, '') : quiet.well;
  return shorten(capitalized(lead ? `${lead}; ${words}` : words), VERDICT_LINE_LENGTH);
}

const QUIET = /^Nothing found in /;

/** A doubt of the image, or what only it knows, is its own sentence. */
function quietLine({ verdict, tool, findings, sections }: Diagnosis, { well, groups = [], isWell }: Quiet): string {
  if (well === undefined || findings.length > 0) return verdict;
  if (isWell) return `Healthy: ${well}; ${verdict.charAt(0).toLowerCase()}${verdict.slice(1)}`;
  if (tool?.name !== 'autodiagnose' || !QUIET.test(verdict)) return verdict;
  const read = sections.filter(({ state }) => state !== 'not-readable').length;
  const where = groups.flatMap(({ podNames }) => podNames).length > 1 ? ' of one' : '';
  return `${capitalized(well)}; nothing found in ${formatCount(read, 'section')}${where}; no look into its threads`;
}

/** The power that would show more: the target's own user and group, which need no extra power, else *general*. */
function lookAgainOf({ sections, target }: Diagnosis, plan: Plan, pod: Pod | undefined): LookAgain | undefined {
  const helps = new Set(sections.filter(({ state }) => state === 'not-readable').flatMap(({ helps = [] }) => helps));
  const asUser = helps.has('identity') ? asTargetUser(target, plan) : undefined;
  if (asUser) return asUser;
  return helps.has('general') && mayTryGeneral(plan, pod) ? { kind: 'general' } : undefined;
}

/** True if *general* would help, be admitted, and start: it runs as root, which a pod may forbid. */
function mayTryGeneral({ profile, observed, securityContext }: Plan, pod: Pod | undefined): boolean {
  const isNew = profile !== 'sysadmin' && !(profile === 'general' && securityContext?.runAsUser === 0);
  const level = observed?.podSecurity ?? 'privileged';
  return isNew && admits(level, 'general') && pod?.spec.securityContext.runAsNonRoot !== true;
}

/** Sections that lack the same permission share a line. */
function unseenSections({ sections }: Diagnosis, lookAgain: LookAgain | undefined): readonly string[] {
  const blind = sections.filter(({ state }) => state === 'not-readable');
  const reasons = new Set(blind.map(reasonOf));
  return [...reasons].map((reason) => {
    const same = blind.filter((section) => reasonOf(section) === reason);
    const names = same.map(({ name }) => name).join(', ');
    const how = howToSee(
      same.flatMap(({ helps = [] }) => helps),
      lookAgain,
    );
    return [names, reason, how].filter((part) => part !== '').join(': ');
  });
}

const reasonOf = ({ lacks, text }: Section): string => lacks ?? text;

function howToSee(helps: readonly Help[], lookAgain: LookAgain | undefined): string {
  if (lookAgain && helps.includes(lookAgain.kind)) return `${labelOf(lookAgain).toLowerCase()}`;
  if (helps.includes('target')) return 'name its container with --target';
  if (helps.includes('sysadmin')) return 'only --profile=sysadmin sees it';
  return helps.includes('general') ? 'only --profile=general sees it' : '';
}

/** A phone shows a button's label in full up to this length. */
const MAX_LABEL_LENGTH = 24;

export function labelOf(lookAgain: LookAgain): string {
  if (lookAgain.kind === 'general') return 'Look again as root';
  const exact = `Look again as ${lookAgain.runAs.uid}:${lookAgain.runAs.gid}`;
  return exact.length <= MAX_LABEL_LENGTH ? exact : 'Look again as its user';
}

function unseenOfCluster(facts: ClusterFacts | undefined, first: Verdict | undefined): readonly string[] {
  if (!facts) return ['restarts, probes, events, node: the pod is gone, or the cluster did not answer in time'];
  const isOfLog = (line: string): boolean => /^(?:its own log|the logs? of|the last words)/.test(line);
  const known = hasLogs(facts) ? unseenOf(facts) : (first?.unseen ?? []);
  const logs = hasLogs(facts) || first ? known.filter(isOfLog) : ['its own log: it was not read'];
  return [
    ...logs,
    ...(facts.events
      ? unseenOf({ notRead: lacksWarnings(facts), hasWarnings: true })
      : ['probes, events: kdebug may not read events (missing right: list events)']),
    ...(facts.node ? [] : ['node: kdebug may not read it (missing optional right: get nodes)']),
  ];
}

const lacksWarnings = ({ notRead = [] }: Partial<ClusterFacts> = {}) => notRead.filter(({ what }) => what === 'events');

const bounded = (lines: readonly string[]): readonly string[] =>
  lines.length <= MAX_UNSEEN
    ? lines
    : [...lines.slice(0, MAX_UNSEEN - 1), `${lines.length - MAX_UNSEEN + 1} more in the report`];

function byLine({ tool, self, cost }: Diagnosis, plan: Plan): string {
  const name = tool ? [tool.name, tool.version].filter(Boolean).join(' ') : plan.imageAlias;
  return [
    name,
    ...(self ? [`ran as ${self.uid}:${self.gid} with ${powersOf(self.capabilities)}`] : []),
    ...(cost?.milliseconds === undefined ? [] : [`looked for ${shortDuration(cost.milliseconds)}`]),
    ...(cost?.cpuMilliseconds === undefined ? [] : [`${shortDuration(cost.cpuMilliseconds)} of CPU`]),
    ...(cost?.memoryBytes === undefined ? [] : [`${formatBytes(cost.memoryBytes)} of memory`]),
  ].join(' · ');
}

/** A longer list than a profile gives is shown as a number. */
function powersOf(capabilities: readonly string[]): string {
  if (capabilities.length === 0) return 'no capabilities';
  return capabilities.length <= 4 ? capabilities.join(', ') : `${capabilities.length} capabilities`;
}
