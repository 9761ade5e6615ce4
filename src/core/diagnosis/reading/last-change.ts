import { type Pod, unmetCondition, workloadOf } from '../../container/pod.ts';
import type { OwnerMark, WorkloadFact } from '../facts/facts.ts';
import { ago, cleanWords } from './phrases.ts';
import { HOUR_MS, isOver, KIND_NAMES, MINUTE_MS, SECOND_MS } from './pod-containers.ts';

/** A change explains nothing that began later, or before it. */
const RECENT_MS = HOUR_MS;
/** The clocks of whoever restarts and of the API server differ. */
const SAME_MS = 5 * SECOND_MS;
const MAX_NAME = 60;

interface When {
  readonly nowMs: number;
  readonly isAnyWrong: boolean;
}

/**
 * The last change of the workload of these pods, where it is at most an hour old, or was at most an hour old when the
 * pods stopped being ready: `Deployment changed 12 min ago by Argo CD (application shop), revision 14`. Undefined: none,
 * or nobody says. Foreign words are clean, bounded and redacted. Pure.
 */
export function changeWords(
  workload: WorkloadFact | undefined,
  pods: readonly Pod[],
  { nowMs, isAnyWrong }: When,
): string | undefined {
  const kind = workload?.kind ?? pods.flatMap((pod) => workloadOf(pod)?.kind ?? [])[0];
  const restartedAtMs = restartOf(pods, nowMs);
  const atMs = Math.max(workload?.lastChange?.atMs ?? 0, restartedAtMs);
  if (kind === undefined || atMs === 0) return undefined;
  const beforeMs = (isAnyWrong ? troubleSince(pods) : Number.NaN) - atMs;
  if (nowMs - atMs > RECENT_MS && !(beforeMs >= 0 && beforeMs <= RECENT_MS)) return undefined;
  const verb = Math.abs(atMs - restartedAtMs) <= SAME_MS ? 'restarted' : verbOf(workload, atMs);
  const words = [`${verb} ${ago(coarse(nowMs - atMs))}${byWords(workload, atMs)}`, ...stateWords(workload)];
  return `${KIND_NAMES[kind]} ${words.join(', ')}`;
}

/** `kubectl rollout restart`, and all that do the same, write the time into the template. */
function restartOf(pods: readonly Pod[], nowMs: number): number {
  const times = pods.map(({ metadata }) => Date.parse(metadata.annotations['kubectl.kubernetes.io/restartedAt'] ?? ''));
  return Math.max(0, ...times.filter((atMs) => atMs > 0 && atMs <= nowMs + SAME_MS));
}

/** The first of the pods that are not ready lost or missed it then; not a number: all of them are ready. */
function troubleSince(pods: readonly Pod[]): number {
  const times = pods.map((pod) => (isOver(pod) ? Number.NaN : Date.parse(unmetCondition(pod, 'Ready')?.since ?? '')));
  const known = times.filter(Number.isFinite);
  return known.length === 0 ? Number.NaN : Math.min(...known);
}

const verbOf = (workload: WorkloadFact | undefined, atMs: number): string =>
  workload && Math.abs(atMs - workload.createdAtMs) <= SECOND_MS ? 'created' : 'changed';

/** Nobody needs the seconds of a quarter of an hour. */
const coarse = (ms: number): number => (ms < MINUTE_MS ? Math.max(0, ms) : Math.floor(ms / MINUTE_MS) * MINUTE_MS);

type Marks = NonNullable<WorkloadFact['marks']>;

function byWords(workload: WorkloadFact | undefined, atMs: number): string {
  const { lastChange, marks = {} } = workload ?? {};
  if (!lastChange || Math.abs(lastChange.atMs - atMs) > SAME_MS || lastChange.manager === '') return '';
  const { manager } = lastChange;
  if (!manager.startsWith('kubectl')) return ` by ${nameOf(manager, marks)}`;
  const owner = ownerOf(marks);
  return ` by kubectl${owner === undefined ? '' : `, although ${owner} keeps it`}`;
}

/** By the names that they give themselves as field managers. */
function nameOf(manager: string, marks: Marks): string {
  if (manager.startsWith('argocd-')) return argo(marks);
  if (manager === 'helm-controller') return flux('HelmRelease', 'helm', marks);
  if (manager === 'kustomize-controller') return flux('Kustomization', 'kustomize', marks);
  return manager === 'helm' ? helm(marks) : cleanWords(manager, MAX_NAME);
}

/** The program that would change it, by its marks: a GitOps controller sets its own beside those of a Helm chart. */
function ownerOf(marks: Marks): string | undefined {
  if (marks['argocd.argoproj.io/tracking-id'] !== undefined) return argo(marks);
  if (marks['helm.toolkit.fluxcd.io/name'] !== undefined) return flux('HelmRelease', 'helm', marks);
  if (marks['kustomize.toolkit.fluxcd.io/name'] !== undefined) return flux('Kustomization', 'kustomize', marks);
  return marks['app.kubernetes.io/managed-by'] === 'Helm' ? helm(marks) : undefined;
}

/** `APPLICATION:GROUP/KIND:NAMESPACE/NAME` */
const argo = (marks: Marks): string =>
  withName('Argo CD', 'application', marks['argocd.argoproj.io/tracking-id']?.split(':')[0]);

const helm = (marks: Marks): string => withName('Helm', 'release', marks['meta.helm.sh/release-name']);

function flux(kind: string, part: 'helm' | 'kustomize', marks: Marks): string {
  const of = (field: 'name' | 'namespace'): string | undefined =>
    marks[`${part}.toolkit.fluxcd.io/${field}` satisfies OwnerMark];
  const full = [of('namespace'), of('name')].filter((word) => word !== undefined).join('/');
  return withName('Flux', kind, full);
}

function withName(tool: string, kind: string, given = ''): string {
  const name = cleanWords(given, MAX_NAME);
  return name === '' ? tool : `${tool} (${kind} ${name})`;
}

/** As `kubectl rollout history` counts, and as the chart or the manifest says. A commit is known by its first letters. */
function stateWords({ marks = {} }: Pick<WorkloadFact, 'marks'> = {}): readonly string[] {
  const revision = marks['deployment.kubernetes.io/revision'] ?? '';
  const version = cleanWords(marks['app.kubernetes.io/version'] ?? '', MAX_NAME).replace(
    /^([0-9a-f]{7})[0-9a-f]{33}$/,
    '$1',
  );
  return [
    ...(/^\d{1,9}$/.test(revision) ? [`revision ${revision}`] : []),
    ...(version === '' ? [] : [`version ${version}`]),
  ];
}
