import { formatCount } from '../../../lib/duration.ts';
import { defined, grouped } from '../../../lib/object.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { troubleIn } from '../logs/log-level.ts';
import { ago, quoted, spanOf } from '../reading/phrases.ts';
import {
  HOUR_MS,
  isDeleting,
  isOver,
  lastWordsOf,
  MINUTE_MS,
  manifestOf,
  newestLineOf,
  patienceOf,
  SECOND_MS,
} from '../reading/pod-containers.ts';
import {
  type Failing,
  failuresOf,
  isMisdirected,
  MISSING_PORT,
  mismatchOf,
  programMissing,
  REFUSED,
  resultOf,
  statusOf,
  TIMED_OUT,
  targetOf,
  undeclaredPort,
} from '../reading/probe-failures.ts';

/** More failures than this exceed the kubelet's default patience. */
const PROBE_FAILURES = 2;
/** A probe that keeps failing is reported at least every five minutes (client-go, event spam filter). */
const PROBE_MS = 6 * MINUTE_MS;
/** A probe that fails for longer than this no longer belongs to the start. */
const START_MS = MINUTE_MS;
/** A container gets 30 s to end after its probe failed (terminationGracePeriodSeconds); then the kill is reported. */
const KILL_MS = 90 * SECOND_MS;

function nextOf(failing: Failing, facts: ClusterFacts): string {
  const { part, kind, probe, words } = failing;
  const status = statusOf(words);
  const manifest = manifestOf(facts.pod);
  if (onLoopback(failing, facts) !== undefined)
    return `Let ${part.name} listen on 0.0.0.0 instead of 127.0.0.1, by its settings or command in the manifest of ${manifest}.`;
  if (programMissing(words) !== undefined)
    return `Use a probe that needs no program (httpGet, tcpSocket) in the manifest of ${manifest}, or an image that has it.`;
  if (MISSING_PORT.test(words))
    return `Correct the port of the ${kind} probe in the manifest of ${manifest}, or give ${part.name} a port of that name.`;
  if (status === '404')
    return `Correct the path of the ${kind} probe in the manifest of ${manifest}: ${part.name} does not know it.`;
  if (status === '401' || status === '403')
    return `Let ${part.name} answer its probe without a login, or give the probe another path in the manifest of ${manifest}.`;
  if (status !== undefined)
    return `Find out what ${part.name} checks on that path: it answers, and says itself that it is not well.`;
  if (probe?.by === 'exec')
    return `Correct that command in the manifest of ${manifest}, or what it checks in ${part.name}.`;
  if (REFUSED.test(words) && undeclaredPort(failing) !== undefined) {
    return `Correct the port of the ${kind} probe in the manifest of ${manifest}, or let ${part.name} listen on ${undeclaredPort(failing)}.`;
  }
  if (TIMED_OUT.test(words))
    return `Find out why ${part.name} is slow, or raise timeoutSeconds of the ${kind} probe in the manifest of ${manifest}.`;
  return `Check that ${part.name} listens on that port, and not on 127.0.0.1 alone; if it only needs longer to start, give it a startupProbe in the manifest of ${manifest}.`;
}

const isEnough = ({ count, probe }: Failing): boolean =>
  count > PROBE_FAILURES || (probe?.failureThreshold !== undefined && count >= probe.failureThreshold);

/** It runs, and the newest failure is of this run. */
function isCurrent({ part, kind, lastAtMs, probe }: Failing, nowMs: number): boolean {
  const { running, ready } = part.status ?? {};
  if (!running || lastAtMs < Date.parse(running.startedAt) || nowMs - lastAtMs > PROBE_MS) return false;
  if (!ready) return true;
  // A container that is ready now only started slowly, or has recovered; one that still seems dead fails again soon.
  const periodMs = (probe?.periodSeconds ?? 10) * SECOND_MS;
  return kind === 'liveness' && nowMs - lastAtMs <= Math.max(2 * MINUTE_MS, 3 * periodMs);
}

/** A container that has just been started may still fail its probes: it refuses, or says 503. */
function isStarting({ part, kind, probe, words }: Failing, nowMs: number): boolean {
  const sinceMs = nowMs - Date.parse(part.status?.running?.startedAt ?? '');
  if (kind !== 'startup' && (part.status?.restartCount ?? 0) > 0) return false;
  if (statusOf(words) !== undefined && statusOf(words) !== '503') return false;
  return sinceMs <= (kind === 'startup' ? Math.max(START_MS, patienceOf(probe)) : START_MS);
}

function failingFindings(facts: ClusterFacts, code: 'probe_wrong' | 'probe_failing'): readonly Finding[] | undefined {
  const { pod, nowMs } = facts;
  const failures = failuresOf(facts);
  if (!failures || isDeleting(pod) || isOver(pod)) return failures && [];
  const current = failures.filter((failing) => isEnough(failing) && isCurrent(failing, nowMs));
  // One probe of a container is enough: they mostly ask the same.
  const worst = grouped(current, ({ part }) => part);
  return [...worst.values()]
    .flatMap(([first]) => first ?? [])
    .filter((failing) => isMisdirected(failing) === (code === 'probe_wrong'))
    .map((failing): Finding => {
      const { part, kind, count, lastAtMs } = failing;
      const rank: Finding['rank'] =
        code === 'probe_failing' && isStarting(failing, nowMs) ? 3 : part.status?.ready ? 2 : undefined;
      const how = `${formatCount(count, 'time')}, last ${ago(nowMs - lastAtMs)}`;
      const loopback = onLoopback(failing, facts);
      const fails = `${part.title}’s ${kind} probe fails${colon(targetOf(failing))}: ${resultOf(failing)} (${how})${mismatchOf(failing)}`;
      const text = loopback
        ? `${part.title} listens on 127.0.0.1 alone, ${quoted(loopback, 90)}, so no probe and no Service reaches it: ${fails}`
        : `${fails}${sayingOf(failing, facts)}`;
      return {
        code,
        containerName: part.name,
        value: count,
        threshold: PROBE_FAILURES,
        text,
        next: rank === 3 ? `Wait: ${part.name} has just been started.` : nextOf(failing, facts),
        ...defined({ rank }),
      };
    });
}

/** The line by which it says that it listens on the probed port of the loopback alone; undefined: it does not say so. */
function onLoopback({ part, probe, words }: Failing, { logs = [] }: ClusterFacts): string | undefined {
  const line = logs.find(({ containerName }) => containerName === part.name)?.onLoopback;
  const port = typeof probe?.port === 'number' ? probe.port : /dial tcp \S*?:(\d{1,5}):/.exec(words)?.[1];
  return REFUSED.test(words) && port !== undefined && line?.includes(`:${port}`) ? line : undefined;
}

/**
 * The newest line of a container that does something else instead of answering, or says itself that it is not well
 * (5xx).
 */
function sayingOf({ part, words }: Failing, facts: ClusterFacts): string {
  const answersWell = statusOf(words)?.startsWith('5') === false;
  const newest = part.status?.ready || answersWell ? undefined : newestLineOf(facts, part.name);
  return newest === undefined ? '' : `; it says ${quoted(newest, 110)}`;
}

const colon = (words: string): string => (words === '' ? '' : ` on ${words}`);

/** Ends that a kill leaves behind: by SIGKILL, by SIGTERM, or in good order after it. */
const KILLED: ReadonlySet<number> = new Set([137, 143, 0]);

function killedFindings(facts: ClusterFacts): readonly Finding[] | undefined {
  const failures = failuresOf(facts);
  if (!failures || isDeleting(facts.pod)) return failures && [];
  return failures.filter((failing) => killsBy(failing, facts)).map((failing) => killedFinding(failing, facts));
}

/** By the API's defaults a probe fails three times before it kills; its last failure comes shortly before the end. */
function killsBy(failing: Failing, facts: ClusterFacts): boolean {
  const { part, kind, lastAtMs } = failing;
  const { ended } = part;
  if (kind === 'readiness' || !ended || !isEnough(failing) || ended.reason === 'OOMKilled') return false;
  const endedAtMs = Date.parse(ended.finishedAt);
  const isNear = lastAtMs > endedAtMs - KILL_MS && facts.nowMs - endedAtMs < HOUR_MS;
  return isNear && KILLED.has(ended.exitCode);
}

function killedFinding(failing: Failing, facts: ClusterFacts): Finding {
  const { part, kind, probe } = failing;
  const { ended, status } = part;
  const endedAtMs = Date.parse(ended?.finishedAt ?? '');
  const livedMs = endedAtMs - Date.parse(ended?.startedAt ?? '');
  const restarts = status?.restartCount ?? 0;
  const often = `${restarts > 0 ? `restarted ${formatCount(restarts, 'time')}, ` : ''}last ${ago(facts.nowMs - endedAtMs)}`;
  const isSlow = kind === 'startup' || (!status?.ready && livedMs < patienceOf(probe) + KILL_MS);
  const after = isSlow && livedMs > 0 ? `${spanOf(livedMs)} after its start, before it was ready; ` : '';
  const text = `${part.title} is killed by its ${kind} probe${colon(targetOf(failing))}: ${resultOf(failing)} (${after}${often})${mismatchOf(failing)}${errorBefore(failing, facts)}`;
  const next = nextOfKilled(failing, isSlow, facts);
  return { code: 'killed_by_probe', containerName: part.name, value: restarts, text, next };
}

/** The error that it logged before it was killed. */
function errorBefore({ part }: Failing, facts: ClusterFacts): string {
  const line = lastWordsOf(facts, part.name)?.line ?? '';
  return troubleIn(line) === 'strong' ? `; before that it says ${quoted(line, 120)}` : '';
}

function nextOfKilled(failing: Failing, isSlow: boolean, facts: ClusterFacts): string {
  const { kind, part } = failing;
  if (!isSlow || isMisdirected(failing)) return nextOf(failing, facts);
  const manifest = manifestOf(facts.pod);
  return kind === 'startup'
    ? `If ${part.name} needs longer to start, raise failureThreshold of its startupProbe in the manifest of ${manifest}; else correct what the probe asks.`
    : `If ${part.name} needs longer to start, give it a startupProbe in the manifest of ${manifest}; else correct what the liveness probe asks.`;
}

const ROW = { seenBy: 'cluster', section: 'probes', rank: 1 } as const;
const SOURCE = 'Kubernetes, "Configure Liveness, Readiness and Startup Probes": failureThreshold is 3 by default';

/** Before what the log says. */
export const KILLING_PROBE_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'killed_by_probe',
    reads: 'event Unhealthy, the container’s probes and ports, its last end by time and exit code',
    means: 'The kubelet kills and restarts a container because its liveness or startup probe fails.',
    next: 'Correct what the probe asks, or give the container more time to start (startupProbe).',
    nextImage: 'blackbox',
    source: `${SOURCE}; an end by 137, 143 or 0 within 90 s after a failure counts (30 s grace, then the kill)`,
    replaces: ['restarts', 'crash_loop', 'probe_failing', 'probe_wrong', 'not_ready'],
    find: killedFindings,
  },
  {
    ...ROW,
    code: 'probe_wrong',
    reads: 'event Unhealthy, the container’s probes and ports',
    means: 'A probe asks a port that the container does not declare and that refuses, or a path that it does not know.',
    threshold: PROBE_FAILURES,
    unit: 'failures',
    next: 'Correct the port or the path of the probe in the manifest.',
    source: SOURCE,
    replaces: ['not_ready', 'probe_failing'],
    find: (facts) => failingFindings(facts, 'probe_wrong'),
  },
];

/** Behind what the log says and what a diagnosis sees inside. */
export const PROBE_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'probe_failing',
    reads: 'event Unhealthy, the container’s probes and ports',
    means: 'The kubelet’s probe fails: the pod gets no traffic (readiness), or is restarted (liveness, startup).',
    threshold: PROBE_FAILURES,
    unit: 'failures',
    next: 'Find out what the container answers there, and compare the probe’s timeout with how long the answer takes.',
    nextImage: 'stacks',
    source: `${SOURCE}; a minute from its start is given to a container, or what its startup probe allows`,
    replaces: ['not_ready'],
    find: (facts) => failingFindings(facts, 'probe_failing'),
  },
];
