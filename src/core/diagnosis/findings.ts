import { defined, grouped } from '../../lib/object.ts';
import { shorten } from '../../lib/text.ts';
import { VERDICT_LINE_LENGTH } from '../line-lengths.ts';
import type { ClusterRule } from './facts/cluster-rule.ts';
import type { Finding } from './facts/report.ts';
import type { FindingRule } from './facts/rules.ts';
import type { VerdictFinding } from './facts/verdict.ts';
import { BLACKBOX_FINDINGS } from './images/blackbox-findings.ts';
import { IMAGE_FINDINGS } from './images/image-findings.ts';
import { NET_FINDINGS } from './images/net-findings.ts';
import type { Lead } from './images/next-image.ts';
import { PROFILE_FINDINGS } from './images/profile-findings.ts';
import { STACKS_FINDINGS } from './images/stacks-findings.ts';
import { CAUSE_RULES, CLUSTER_RULES, EFFECT_RULES } from './look-at-cluster.ts';

/** Everything that kdebug's own diagnosis can find; codes are unique. */
export const FINDINGS: readonly FindingRule[] = [
  ...IMAGE_FINDINGS,
  ...NET_FINDINGS,
  ...STACKS_FINDINGS,
  ...PROFILE_FINDINGS,
  ...BLACKBOX_FINDINGS,
  ...CLUSTER_RULES,
];

const BY_CODE: ReadonlyMap<string, FindingRule> = new Map(FINDINGS.map((rule) => [rule.code, rule]));
const CLUSTER_BY_CODE: ReadonlyMap<string, ClusterRule> = new Map(CLUSTER_RULES.map((rule) => [rule.code, rule]));

/** The rule of a code; undefined for codes of other images. */
export const findingRule = (code: string): FindingRule | undefined => BY_CODE.get(code);

/** The next steps after findings, in their order. */
export const leadsOf = (findings: readonly Pick<VerdictFinding, 'code' | 'containerName'>[]): readonly Lead[] =>
  findings.flatMap(({ code, containerName }) => {
    const rule = findingRule(code ?? '');
    return rule ? [{ ...rule, ...defined({ containerName }) }] : [];
  });

export const MAX_FINDINGS = 3;
/** For findings of other images, which have no rule. */
const FOREIGN_RANK = 2;

/** An image's findings come between the causes and the effects that the API shows. */
const POSITIONS: ReadonlyMap<string, number> = new Map([
  ...CAUSE_RULES.map(({ code }, index) => [code, index] as const),
  ...EFFECT_RULES.map(({ code }, index) => [code, CAUSE_RULES.length + 1 + index] as const),
]);

/** A finding in the threads themselves is the cause of those in sockets and clients. */
const INSIDE: ReadonlySet<string> = new Set([
  'deadlock',
  'lock_queue',
  'pool_waits',
  'gc_heavy',
  'event_loop_busy',
  'event_loop_waits',
  'thread_in_kernel',
]);

const positionOf = ({ code }: Finding): number =>
  POSITIONS.get(code) ?? (INSIDE.has(code) ? CAUSE_RULES.length - 0.5 : CAUSE_RULES.length);

export const rankOf = ({ code, rank }: Finding): 1 | 2 | 3 => rank ?? findingRule(code)?.rank ?? FOREIGN_RANK;

/** More than worth knowing. */
export const isWrong = (finding: Finding): boolean => rankOf(finding) < 3;

/** The value as a multiple of the threshold; 1 if there is none. */
function excess(finding: Finding): number {
  const rule = findingRule(finding.code);
  const [value, threshold] = [finding.value, finding.threshold ?? rule?.threshold];
  if (value === undefined || threshold === undefined) return 1;
  return rule?.below ? threshold / Math.max(1, value) : value / Math.max(1, threshold);
}

/** They are about the same container, or one of them about the whole pod. */
const belong = (a: Finding, b: Finding): boolean =>
  a.containerName === undefined || b.containerName === undefined || a.containerName === b.containerName;

/** Of an image's findings: one thing that is seen in two ways, the cause of which is the first. */
const SEEN_TWICE: Readonly<Record<string, string>> = {
  // Those who wait behind two threads that wait for each other.
  deadlock: 'lock_queue',
  // An endless loop under a limit of less than a CPU is throttled and waits, whatever its limit.
  busy_thread: 'waits_for_cpu',
  cpu_near_limit: 'cpu_throttled',
};

/** It says how a process ended, as an image saw it. */
export const isDeath = ({ code }: Pick<Finding, 'code'>): boolean => findingRule(code)?.section === 'death';

/** Findings of the cluster about an end that an image saw happen. */
const ENDS: ReadonlySet<string> = new Set(['restarts', 'crash_loop', 'last_oom_killed', 'pod_failed', 'log_errors']);

const isSeenEnd = (cause: Finding, effect: Finding): boolean => ENDS.has(effect.code) && isDeath(cause);

const names = (cause: Finding, effect: Finding, by: 'explains' | 'replaces'): boolean =>
  [CLUSTER_BY_CODE.get(cause.code)?.[by], by === 'explains' ? cause.explains : undefined].some((codes) =>
    codes?.includes(effect.code),
  ) && belong(cause, effect);

/** Worth knowing is no cause: it neither explains nor replaces what is wrong. */
function covers(cause: Finding, effect: Finding, by: 'explains' | 'replaces'): boolean {
  if (by === 'explains' && (SEEN_TWICE[cause.code] === effect.code || isSeenEnd(cause, effect))) return true;
  return names(cause, effect, by) && (rankOf(cause) < 3 || rankOf(effect) === 3);
}

/** A line of a log is no alarm by itself, but as bad as the worst that it gives the cause of. */
function raised(finding: Finding, all: readonly Finding[]): Finding {
  if (findingRule(finding.code)?.section !== 'log') return finding;
  const effects = all.filter((other) => names(finding, other, 'explains'));
  const [worst = finding] = [finding, ...effects].toSorted((a, b) => rankOf(a) - rankOf(b));
  return { ...finding, rank: rankOf(worst) };
}

/** Those that may cover a finding: a pod may have thousands of containers, each with its own. */
function nearIn(all: readonly Finding[]): (finding: Finding) => readonly Finding[] {
  const byContainer = grouped(all, ({ containerName }) => containerName);
  const of = (name: string | undefined): readonly Finding[] => byContainer.get(name) ?? [];
  return ({ containerName }) => (containerName === undefined ? all : [...of(undefined), ...of(containerName)]);
}

/** Advice, and warnings that may have healed: noise beside something that is wrong. */
const HINTS: ReadonlySet<string> = new Set(['no_memory_limit', 'no_requests', 'warning_events']);

/**
 * Findings in the order in which people should read them: causes before their effects, then by rank, then as the table
 * has them, those of an image by how far they exceed their threshold, of its threads before of its sockets. Left out are
 * those that another replaces, and hints while something is wrong. A line of a log becomes as bad as what it explains.
 */
export function ordered(given: readonly Finding[]): readonly Finding[] {
  const all = given.map((finding) => raised(finding, given));
  const isAnyWrong = all.some(isWrong);
  const nearOf = nearIn(all);
  const findings = all.filter(
    (finding) =>
      !(isAnyWrong && HINTS.has(finding.code)) &&
      !nearOf(finding).some((other) => other !== finding && covers(other, finding, 'replaces')),
  );
  const leftNear = nearIn(findings);
  const keyed = findings.map((finding) => {
    const causes = leftNear(finding).filter((other) => covers(other, finding, 'explains'));
    return { finding, isEffect: causes.length > 0, rank: Math.max(rankOf(finding), ...causes.map(rankOf)) };
  });
  return keyed
    .toSorted(
      (a, b) =>
        a.rank - b.rank ||
        Number(a.isEffect) - Number(b.isEffect) ||
        rankOf(a.finding) - rankOf(b.finding) ||
        positionOf(a.finding) - positionOf(b.finding) ||
        excess(b.finding) - excess(a.finding),
    )
    .map(({ finding }) => finding);
}

/** kdebug's own advice is used if the finding gives none. */
export function shown(finding: Finding): VerdictFinding {
  const rule = findingRule(finding.code);
  const threshold = finding.threshold ?? rule?.threshold;
  const unit = rule?.unit === undefined || rule.unit === '%' ? (rule?.unit ?? '') : ` ${rule.unit}`;
  return {
    text: shorten(finding.text, VERDICT_LINE_LENGTH),
    ...defined({
      code: rule?.code,
      containerName: finding.containerName,
      explains: finding.explains,
      limit: threshold === undefined ? undefined : `${threshold}${unit}`,
    }),
    next: finding.next ?? rule?.next ?? '',
    rank: rankOf(finding),
  };
}
