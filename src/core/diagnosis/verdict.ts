import { formatBytes, formatCount, shortDuration } from '../../lib/duration.ts';
import { defined } from '../../lib/object.ts';
import { shorten } from '../../lib/text.ts';
import type { Plan } from '../container/plan.ts';
import type { Pod } from '../container/pod.ts';
import { admits } from '../container/profiles.ts';
import type { Policy } from '../policy/policy.ts';
import type { Outcome } from '../run/outcome.ts';
import type { LookAgain, Verdict, VerdictFinding } from '../run/run.ts';
import { CLUSTER_FINDINGS, startFindings } from './cluster-findings.ts';
import { IMAGE_FINDINGS } from './image-findings.ts';
import { NET_FINDINGS } from './images/net-findings.ts';
import { PROFILE_FINDINGS } from './images/profile-findings.ts';
import { STACKS_FINDINGS } from './images/stacks-findings.ts';
import { type ClusterFacts, lookAtCluster } from './look-at-cluster.ts';
import { asTargetUser, nextImageOf } from './next-image.ts';
import type { Diagnosis, Finding, Help, Section } from './report.ts';
import type { FindingRule } from './rules.ts';
import { chartsOf } from './series.ts';

/** Everything that kdebug's own diagnosis can find; codes are unique. */
export const FINDINGS: readonly FindingRule[] = [
  ...IMAGE_FINDINGS,
  ...NET_FINDINGS,
  ...STACKS_FINDINGS,
  ...PROFILE_FINDINGS,
  ...CLUSTER_FINDINGS,
];

const BY_CODE: ReadonlyMap<string, FindingRule> = new Map(FINDINGS.map((rule) => [rule.code, rule]));

/** The rule of a code; undefined for codes of other images. */
export const findingRule = (code: string): FindingRule | undefined => BY_CODE.get(code);

const MAX_FINDINGS = 3;
const MAX_UNSEEN = 5;
/** A Slack header has room for 150 characters, including the mark of its tone. */
const MAX_LINE_LENGTH = 140;
/** For findings of other images, which have no rule. */
const FOREIGN_RANK = 2;

/**
 * The verdict on a report, merged with the Kubernetes API's facts if the pod still exists. Findings are ordered by
 * rank, then by how far they exceed their threshold, then as reported; the first of them may lead to another image of
 * the policy. Pure: equal data give equal text.
 */
export function verdictOf(
  diagnosis: Diagnosis,
  plan: Plan,
  facts: ClusterFacts | undefined,
  policy: Pick<Policy, 'images'> = { images: {} },
): Verdict {
  const clusterFindings = facts ? lookAtCluster(facts) : {};
  const findings = ordered([...diagnosis.findings, ...Object.values(clusterFindings).flat()]);
  const ownFine = Object.keys(clusterFindings).filter((name) => clusterFindings[name]?.length === 0);
  const fine = [...diagnosis.sections.filter(({ state }) => state === 'ok').map(({ name }) => name), ...ownFine];
  const lookAgain = lookAgainOf(diagnosis, plan, facts?.pod);
  const next = nextImageOf(
    findings.map(({ code }) => findingRule(code)),
    { target: diagnosis.target, plan, policy, lookAgain, mayTryGeneral: mayTryGeneral(plan, facts?.pod) },
  );
  const unseen = [...unseenSections(diagnosis, lookAgain), ...unseenOfCluster(facts)];
  const charts = chartsOf(diagnosis.series ?? [], new Set(diagnosis.findings.map(sectionOf)));
  return {
    line: lineOf(diagnosis, findings),
    findings: findings.slice(0, MAX_FINDINGS).map(shown),
    ...defined({
      more: findings.length > MAX_FINDINGS ? findings.length - MAX_FINDINGS : undefined,
      fine: fine.length > 0 ? [...new Set(fine)].join(', ') : undefined,
      unseen: unseen.length > 0 ? bounded(unseen) : undefined,
      charts: charts.length > 0 ? charts : undefined,
      lookAgain,
    }),
    ...next,
    by: byLine(diagnosis, plan),
  };
}

/** What the API's facts explain about a run without a report; undefined if they explain nothing. */
export function explanationOf(facts: ClusterFacts, plan: Plan, outcome: Outcome): Verdict | undefined {
  const seen = [...startFindings(facts.pod, plan, outcome), ...Object.values(lookAtCluster(facts)).flat()];
  const wrong = ordered(seen).filter((finding) => rankOf(finding) < 3);
  return wrong.length === 0 ? undefined : { findings: wrong.slice(0, MAX_FINDINGS).map(shown) };
}

/**
 * Everything that the API's facts show to be wrong or worth knowing, the most important first; without the one about
 * warnings, for a message that lists the events themselves.
 */
export const findingsOf = (facts: ClusterFacts): readonly VerdictFinding[] =>
  ordered(
    Object.values(lookAtCluster(facts))
      .flat()
      .filter(({ code }) => code !== 'warning_events'),
  ).map(shown);

const sectionOf = ({ code, section }: Finding): string | undefined => section ?? findingRule(code)?.section;

const rankOf = ({ code }: Finding): 1 | 2 | 3 => findingRule(code)?.rank ?? FOREIGN_RANK;

/** The value as a multiple of the threshold; 1 if there is none. */
function excess(finding: Finding): number {
  const rule = findingRule(finding.code);
  const [value, threshold] = [finding.value, finding.threshold ?? rule?.threshold];
  if (value === undefined || threshold === undefined) return 1;
  return rule?.below ? threshold / Math.max(1, value) : value / Math.max(1, threshold);
}

const ordered = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted((a, b) => rankOf(a) - rankOf(b) || excess(b) - excess(a));

/** kdebug's own advice is used if the image gives none. */
function shown(finding: Finding): VerdictFinding {
  const rule = findingRule(finding.code);
  const threshold = finding.threshold ?? rule?.threshold;
  const unit = rule?.unit === undefined || rule.unit === '%' ? (rule?.unit ?? '') : ` ${rule.unit}`;
  return {
    text: finding.text,
    ...defined({ limit: threshold === undefined ? undefined : `${threshold}${unit}` }),
    next: finding.next ?? rule?.next ?? '',
    rank: rankOf(finding),
  };
}

/** The image's own sentence, unless the merged findings add something. */
function lineOf({ verdict }: Diagnosis, findings: readonly Finding[]): string {
  if (!findings.some(({ code }) => findingRule(code))) return verdict;
  const isWrong = findings.some((finding) => rankOf(finding) < 3);
  const named = isWrong ? findings.filter((finding) => rankOf(finding) < 3) : findings;
  const lead = isWrong ? formatCount(named.length, 'finding') : 'Nothing is failing; worth knowing';
  return shorten(`${lead}: ${named.map(({ text }) => text).join('; ')}`, MAX_LINE_LENGTH);
}

/** What would show more: the target's own user and group, which need no extra power, else *general*. */
function lookAgainOf({ sections, target }: Diagnosis, plan: Plan, pod: Pod | undefined): LookAgain | undefined {
  const helps = new Set(sections.filter(({ state }) => state === 'not-readable').flatMap(({ helps = [] }) => helps));
  const asUser = helps.has('identity') ? asTargetUser(target, plan) : undefined;
  if (asUser) return asUser;
  return helps.has('general') && mayTryGeneral(plan, pod) ? { kind: 'general' } : undefined;
}

/** Whether *general* would help, be admitted, and start: it runs as root, which a pod may forbid. */
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
