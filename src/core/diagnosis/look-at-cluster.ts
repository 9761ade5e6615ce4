import { formatCount } from '../../lib/duration.ts';
import { defined } from '../../lib/object.ts';
import { quantityOf } from '../../lib/quantity.ts';
import { type ContainerStatus, isSidecar, type Node, type Pod, type PodEvent } from '../container/pod.ts';
import { foreignLine } from '../report/log/clean-text.ts';
import { CPU_PAUSE, clockFindings, type Launch, PROBE_FAILURES } from './cluster-findings.ts';
import { ago, howItEnded, podFindings, rolloutFindings } from './pod-findings.ts';
import type { Finding } from './report.ts';

/** What the Kubernetes API knows about a diagnosed pod. */
export interface ClusterFacts {
  readonly pod: Pod;
  readonly targetContainerName: string | undefined;
  /** Pods of the namespace that carry a template hash. */
  readonly versionedPods: readonly Pod[];
  /** Undefined if they were not read. */
  readonly events: readonly PodEvent[] | undefined;
  /** Undefined if the bot has no right to read it, or could not. */
  readonly node: Node | undefined;
  readonly nowMs: number;
  readonly launch?: Launch | undefined;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A probe that keeps failing is reported at least every five minutes (client-go, event spam filter). */
const PROBE_MS = 6 * MINUTE_MS;
const WARNING_MS = 10 * MINUTE_MS;
/** They have their own findings. */
const WITH_OWN_FINDING: ReadonlySet<string> = new Set(['Unhealthy', 'BackOff', 'FailedScheduling']);
const NOT_STARTING: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/**
 * The findings in the API's facts, by section; a section without a finding is fine. Pure: the same facts give the same
 * text.
 */
export function lookAtCluster(facts: ClusterFacts): Readonly<Record<string, readonly Finding[]>> {
  const { pod, events, nowMs } = facts;
  const clock = clockFindings(pod, facts.launch, nowMs);
  const restarts = [...containersOf(pod), ...failedInits(pod)].flatMap((status) => restartFinding(status, nowMs) ?? []);
  const probes = events && probeFindings(events, facts);
  const warnings = warningsIn(events ?? [], nowMs);
  const whole = podFindings(pod, { explained: [...restarts, ...(probes ?? [])], warnings, nowMs });
  // Then the warning is in its text.
  const isInWhole = pod.status.phase === 'Pending' && whole.some(({ code }) => code === 'not_ready');
  return {
    restarts: [...whole, ...restarts],
    ...defined({
      probes,
      events: events && (isInWhole ? [] : warningFindings(warnings, nowMs)),
      node: facts.node && nodeFindings(facts.node),
      clock,
    }),
    resources: resourceFindings(facts),
    rollout: rolloutFindings(facts.pod, facts.versionedPods),
  };
}

const sidecarsOf = ({ spec }: Pod): ReadonlySet<string> =>
  new Set(spec.initContainers.filter(isSidecar).map(({ name }) => name));

/** Long-running containers: regular ones and sidecars, not completed init containers. */
function containersOf(pod: Pod): readonly ContainerStatus[] {
  const { containerStatuses, initContainerStatuses } = pod.status;
  const sidecars = sidecarsOf(pod);
  return [...containerStatuses, ...initContainerStatuses.filter(({ name }) => sidecars.has(name))];
}

/** Init containers that have not done their part: the pod's own containers wait for them. */
function failedInits(pod: Pod): readonly ContainerStatus[] {
  const sidecars = sidecarsOf(pod);
  return pod.status.initContainerStatuses.filter(
    ({ name, terminated, running }) => !sidecars.has(name) && !running && terminated?.exitCode !== 0,
  );
}

/** `restarted 3 times, last exited 12 s ago: exit code 1 (Error)`; undefined if it never ended. */
export function endingOf({ terminated, lastTermination, restartCount }: ContainerStatus, nowMs: number) {
  const ended = terminated ?? lastTermination;
  if (!ended) return undefined;
  const how = restartCount > 0 ? `restarted ${formatCount(restartCount, 'time')}, last exited` : 'exited';
  return `${how} ${ago(nowMs - Date.parse(ended.finishedAt))}: ${howItEnded(ended)}`;
}

/** The most important finding of a container. */
function restartFinding(status: ContainerStatus, nowMs: number): Finding | undefined {
  const { name, waiting, restartCount: value } = status;
  if (waiting && NOT_STARTING.has(waiting.reason)) {
    return {
      code: 'not_starting',
      text: `${name} cannot start: ${foreignLine(`${waiting.reason} ${waiting.message}`)}`,
    };
  }
  const ended = status.terminated ?? status.lastTermination;
  if (!ended) return undefined;
  const age = nowMs - Date.parse(ended.finishedAt);
  const text = `${name} ${endingOf(status, nowMs)}`;
  if (ended.reason === 'OOMKilled' && age < DAY_MS) return { code: 'last_oom_killed', value, text };
  if (waiting?.reason === 'CrashLoopBackOff') return { code: 'crash_loop', value, text };
  const isWrong = value > 0 || ended.exitCode !== 0;
  return isWrong && age < HOUR_MS ? { code: 'restarts', value, text } : undefined;
}

const within = (ms: number, nowMs: number) => (event: PodEvent) => event.type === 'Warning' && nowMs - event.atMs <= ms;

const CONTAINER = /^spec\.(?:initContainers|containers)\{(.*)\}$/;
const containerOf = ({ fieldPath = '' }: PodEvent): string => CONTAINER.exec(fieldPath)?.[1] ?? '';

function probeFindings(events: readonly PodEvent[], { pod, nowMs }: ClusterFacts): readonly Finding[] {
  const ready = new Set(containersOf(pod).flatMap((status) => (status.ready ? status.name : [])));
  // A container that is ready now only started slowly, or has recovered.
  const isOver = (event: PodEvent) => /^(Readiness|Startup) probe/.test(event.message) && ready.has(containerOf(event));
  const unhealthy = events.filter(({ reason }) => reason === 'Unhealthy').filter(within(PROBE_MS, nowMs));
  const failed = unhealthy.filter((event) => !isOver(event));
  const names = [...new Set(failed.map(containerOf))];
  return names.flatMap((name) => {
    const own = failed.filter((event) => containerOf(event) === name);
    const value = own.reduce((sum, { count = 1 }) => sum + count, 0);
    const [newest] = own;
    if (!newest || value <= PROBE_FAILURES) return [];
    const of = name === '' ? '' : ` of ${foreignLine(name)}`;
    const text = `a probe${of} failed ${formatCount(value, 'time')}, last ${ago(nowMs - newest.atMs)}: ${foreignLine(newest.message)}`;
    return [{ code: 'probe_failing', value, threshold: PROBE_FAILURES, text }];
  });
}

/** Those about debug containers are no news of the pod. */
export const isOfDebugContainer = ({ fieldPath = '' }: PodEvent): boolean =>
  fieldPath.startsWith('spec.ephemeralContainers');

const warningsIn = (events: readonly PodEvent[], nowMs: number): readonly PodEvent[] =>
  events
    .filter(within(WARNING_MS, nowMs))
    .filter((event) => !WITH_OWN_FINDING.has(event.reason) && !isOfDebugContainer(event));

/** All warnings in one finding with the text of the newest. */
function warningFindings(warnings: readonly PodEvent[], nowMs: number): readonly Finding[] {
  const [newest] = warnings;
  if (!newest) return [];
  const value = warnings.reduce((sum, { count = 1 }) => sum + count, 0);
  const text = `${formatCount(value, 'warning')}, last ${ago(nowMs - newest.atMs)}: ${foreignLine(`${newest.reason} ${newest.message}`)}`;
  return [{ code: 'warning_events', value, text }];
}

function nodeFindings({ name, conditions }: Node): readonly Finding[] {
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready && ready.status !== 'True') return [{ code: 'node_not_ready', text: `the node ${name} is not ready` }];
  const pressed = conditions.filter(({ type, status }) => type.endsWith('Pressure') && status === 'True');
  if (pressed.length === 0) return [];
  const text = `the node ${name} reports ${pressed.map(({ type }) => foreignLine(type)).join(', ')}`;
  return [{ code: 'node_pressure', value: pressed.length, text }];
}

function resourceFindings({ pod, targetContainerName }: ClusterFacts): readonly Finding[] {
  const { containers, initContainers } = pod.spec;
  const named = [...containers, ...initContainers].find(({ name }) => name === targetContainerName);
  const target = targetContainerName === undefined ? containers[0] : named;
  if (!target) return [];
  const findings: Finding[] = [];
  const cores = quantityOf(target.cpuLimit ?? '');
  const value = cores === undefined ? 0 : Math.round(100 * (1 - cores));
  if (value > CPU_PAUSE) {
    const text = `${target.name} must pause ${value} ms of each 100 ms at full load: its CPU limit is ${target.cpuLimit}`;
    findings.push({ code: 'cpu_limit_tight', value, threshold: CPU_PAUSE, text });
  }
  if (target.memoryLimit === undefined) {
    findings.push({ code: 'no_memory_limit', text: `${target.name} has no memory limit` });
  }
  if (!target.hasRequests) findings.push({ code: 'no_requests', text: `${target.name} requests no CPU or memory` });
  return findings;
}
