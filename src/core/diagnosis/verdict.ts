import { defined } from '../../lib/defined.ts';
import { formatBytes, formatCount, shortDuration } from '../../lib/duration.ts';
import { shorten } from '../../lib/text.ts';
import { admits } from '../container/auto-profile.ts';
import type { Plan } from '../container/plan.ts';
import type { Pod } from '../container/pod.ts';
import type { Outcome } from '../run/outcome.ts';
import type { LookAgain, Verdict, VerdictFinding } from '../run/run.ts';
import { CLUSTER_FINDINGS, startFindings } from './cluster-findings.ts';
import { IMAGE_FINDINGS } from './image-findings.ts';
import { type ClusterFacts, lookAtCluster } from './look-at-cluster.ts';
import type { Diagnosis, Finding, Help, Section } from './report.ts';
import type { FindingRule } from './rules.ts';

/** Everything that kdebug's own diagnosis can find; codes are unique. */
export const FINDINGS: readonly FindingRule[] = [...IMAGE_FINDINGS, ...CLUSTER_FINDINGS];

const BY_CODE: ReadonlyMap<string, FindingRule> = new Map(FINDINGS.map((rule) => [rule.code, rule]));

/** The rule of a code; undefined for those of foreign images. */
export const findingRule = (code: string): FindingRule | undefined => BY_CODE.get(code);

const MAX_FINDINGS = 3;
const MAX_UNSEEN = 5;
/** Slack's header takes 150 characters, with the mark of its tone. */
const MAX_LINE_LENGTH = 140;
/** Of findings that no table of ours knows: another image's own. */
const FOREIGN_RANK = 2;

/**
 * The verdict on a report: merged with what the Kubernetes API knows, where the pod is still there. Findings are ordered by
 * rank, then by how far they are beyond their threshold, then as they came. Pure: equal data give equal text.
 */
export function verdictOf(diagnosis: Diagnosis, plan: Plan, facts: ClusterFacts | undefined): Verdict {
  const seen = facts ? lookAtCluster(facts) : {};
  const findings = ordered([...diagnosis.findings, ...Object.values(seen).flat()]);
  const ownFine = Object.keys(seen).filter((name) => seen[name]?.length === 0);
  const fine = [...diagnosis.sections.filter(({ state }) => state === 'ok').map(({ name }) => name), ...ownFine];
  const lookAgain = lookAgainOf(diagnosis, plan, facts?.pod);
  const unseen = [...unseenSections(diagnosis, lookAgain), ...unseenOfCluster(facts)];
  return {
    line: lineOf(diagnosis, findings),
    findings: findings.slice(0, MAX_FINDINGS).map(shown),
    ...(findings.length > MAX_FINDINGS && { more: findings.length - MAX_FINDINGS }),
    ...(fine.length > 0 && { fine: [...new Set(fine)].join(', ') }),
    ...(unseen.length > 0 && { unseen: bounded(unseen) }),
    ...defined({ lookAgain }),
    by: byLine(diagnosis, plan),
  };
}

/** What the API knows of a target whose diagnosis left no report and ended so; undefined when that explains nothing. */
export function explanationOf(facts: ClusterFacts, plan: Plan, outcome: Outcome): Verdict | undefined {
  const seen = [...startFindings(facts.pod, plan, outcome), ...Object.values(lookAtCluster(facts)).flat()];
  const wrong = ordered(seen).filter((finding) => rankOf(finding) < 3);
  return wrong.length === 0 ? undefined : { findings: wrong.slice(0, MAX_FINDINGS).map(shown) };
}

const rankOf = ({ code }: Finding): 1 | 2 | 3 => findingRule(code)?.rank ?? FOREIGN_RANK;

/** How many times the threshold; 1 where there is none. */
function excess(finding: Finding): number {
  const rule = findingRule(finding.code);
  const [value, threshold] = [finding.value, finding.threshold ?? rule?.threshold];
  if (value === undefined || threshold === undefined) return 1;
  return rule?.below ? threshold / Math.max(1, value) : value / Math.max(1, threshold);
}

const ordered = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted((a, b) => rankOf(a) - rankOf(b) || excess(b) - excess(a));

/** The advice of a code of ours is ours, where the image gives none. */
function shown(finding: Finding): VerdictFinding {
  const rule = findingRule(finding.code);
  const threshold = finding.threshold ?? rule?.threshold;
  const unit = rule?.unit === undefined || rule.unit === '%' ? (rule?.unit ?? '') : ` ${rule.unit}`;
  const limit = `${threshold}${unit}`;
  return {
    text: finding.text,
    ...(threshold !== undefined && { limit }),
    next: finding.next ?? rule?.next ?? '',
    rank: rankOf(finding),
  };
}

/** The image's own words, unless the merged findings say more than it knew. */
function lineOf({ verdict }: Diagnosis, findings: readonly Finding[]): string {
  if (!findings.some(({ code }) => findingRule(code))) return verdict;
  const isWrong = findings.some((finding) => rankOf(finding) < 3);
  const told = isWrong ? findings.filter((finding) => rankOf(finding) < 3) : findings;
  const lead = isWrong ? formatCount(told.length, 'finding') : 'Nothing is failing; worth knowing';
  return shorten(`${lead}: ${told.map(({ text }) => text).join('; ')}`, MAX_LINE_LENGTH);
}

/** What would show more: the target's own user and group, which need no power at all, else *general*. */
function lookAgainOf({ sections, target }: Diagnosis, plan: Plan, pod: Pod | undefined): LookAgain | undefined {
  const helps = new Set(sections.filter(({ state }) => state === 'not-readable').flatMap(({ helps = [] }) => helps));
  const { uid, gid } = target ?? {};
  if (helps.has('identity') && uid !== undefined && gid !== undefined && uid !== 0 && !isAs(plan, uid, gid)) {
    return { kind: 'identity', runAs: { uid, gid } };
  }
  return helps.has('general') && mayTryGeneral(plan, pod) ? { kind: 'general' } : undefined;
}

const isAs = ({ securityContext }: Plan, uid: number, gid: number): boolean =>
  securityContext?.runAsUser === uid && securityContext.runAsGroup === gid;

/** It would be of use, be admitted, and start: *general* is root, which a pod may forbid. */
function mayTryGeneral({ profile, observed, securityContext }: Plan, pod: Pod | undefined): boolean {
  const isNew = profile !== 'sysadmin' && !(profile === 'general' && securityContext?.runAsUser === 0);
  const level = observed?.podSecurity ?? 'privileged';
  return isNew && admits(level, 'general') && pod?.spec.securityContext.runAsNonRoot !== true;
}

/** Sections that lack the same are one line. */
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

/** A button's label is read whole on a phone up to this length. */
const MAX_LABEL_LENGTH = 24;

/** What the button says. */
export function labelOf(lookAgain: LookAgain): string {
  if (lookAgain.kind === 'general') return 'Look again as root';
  const exact = `Look again as ${lookAgain.runAs.uid}:${lookAgain.runAs.gid}`;
  return exact.length <= MAX_LABEL_LENGTH ? exact : 'Look again as its user';
}

function unseenOfCluster(facts: ClusterFacts | undefined): readonly string[] {
  if (!facts) return ['restarts, probes, events, node: the pod is gone, or the cluster did not answer in time'];
  return [
    ...(facts.events ? [] : ['probes, events: kdebug may not read events (missing right: list events)']),
    ...(facts.node ? [] : ['node: kdebug may not read it (missing optional right: get nodes)']),
  ];
}

const bounded = (lines: readonly string[]): readonly string[] =>
  lines.length <= MAX_UNSEEN
    ? lines
    : [...lines.slice(0, MAX_UNSEEN - 1), `${lines.length - MAX_UNSEEN + 1} more in the report`];

function byLine({ tool, self, cost }: Diagnosis, plan: Plan): string {
  const name = tool ? [tool.name, tool.version].filter(Boolean).join(' ') : plan.imageAlias;
  return [
    name,
    ...(self ? [`ran as ${self.uid}:${self.gid} with ${powersOf(self.capabilities)}`] : []),
    ...(cost?.milliseconds === undefined ? [] : [shortDuration(cost.milliseconds)]),
    ...(cost?.cpuMilliseconds === undefined ? [] : [`${shortDuration(cost.cpuMilliseconds)} of CPU`]),
    ...(cost?.memoryBytes === undefined ? [] : [`${formatBytes(cost.memoryBytes)} of memory`]),
  ].join(' · ');
}

/** More than a profile gives are told by their number. */
function powersOf(capabilities: readonly string[]): string {
  if (capabilities.length === 0) return 'no capabilities';
  return capabilities.length <= 4 ? capabilities.join(', ') : `${capabilities.length} capabilities`;
}
