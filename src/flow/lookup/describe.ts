import { printCommand } from '../../core/command/print.ts';
import type { Pod, PodEphemeralContainer } from '../../core/container/pod.ts';
import type { UserAndGroup } from '../../core/container/profiles.ts';
import { toKdebugError } from '../../core/errors.ts';
import { kindToLookUp } from '../../core/planning/plan-request.ts';
import { possibleRuns } from '../../core/planning/possible-runs.ts';
import { type NotResolved, type ResolvedNamespace, resolveNamespace } from '../../core/planning/resolve.ts';
import type { Command } from '../../core/request/command.ts';
import type { Origin, Refusal } from '../../core/request/origin.ts';
import { targetContainerOf } from '../../core/request/target.ts';
import { noSuchPodMessage, podMessage } from '../../core/say/answers/describe-message.ts';
import { reasonMessage, refusalAnswer } from '../../core/say/answers/private-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import type { EarlierContainer } from '../../core/say/parts/pod-parts.ts';
import { withDeadline } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import { readRunOfChannel } from '../context/find-run.ts';
import { refusal } from '../context/refusals.ts';
import { readPodFacts } from '../first-answer/pod-facts.ts';
import { inTime } from '../first-answer/source.ts';
import { channelProblem } from '../planning/channel-check.ts';
import { learntFrom } from '../planning/plan-pod.ts';
import { accessProblem } from '../planning/preflight.ts';
import { ANSWER_WITHIN_MS } from '../ports/slack.ts';

/** The answer is useful without events, node, other versions or links. */
const EXTRAS_MS = 1_000;
/** For an earlier run, and again for the link to it. */
const RUN_MS = 500;
/** The newest debug containers whose runs are looked up. */
const MAX_LOOKED_UP = 5;

export type DescribeCommand = Extract<Command, { kind: 'describe' }>;

/**
 * Describes a pod to one person in one channel. Launches nothing. Channel, policy and the person's own rights decide
 * before the cluster is asked for the pod, as for a run. A pod in a namespace that the channel may not see gets the
 * same answer as one that does not exist.
 */
export async function describePod(origin: Origin, command: DescribeCommand, deps: FlowDeps): Promise<Message> {
  return withDeadline(deps.clock, ANSWER_WITHIN_MS, answer(origin, command, deps), tooLate);
}

const tooLate = (): Message => reasonMessage('cluster_unreachable', 'no answer in time');

async function answer(origin: Origin, command: DescribeCommand, deps: FlowDeps): Promise<Message> {
  const problem = await channelProblem(origin, deps, { posts: false });
  const resolved = resolveNamespace(command, origin.channelId, deps.policies.current());
  const refused =
    problem ??
    (resolved.kind === 'deny'
      ? refusalOfName(resolved)
      : await accessProblem({ origin }, { ...resolved, podName: command.pod }, deps));
  await record(deps, { origin }, 'decision', {
    kind: refused ? 'deny' : 'allow',
    code: refused?.code,
    command: printCommand(command),
  });
  if (refused?.code === 'namespace_not_allowed') return noSuchPodMessage(command.pod, command.namespace ?? '');
  if (refused) return refusalAnswer(refused);
  return resolved.kind === 'ok' ? lookUp(origin, { ...resolved, name: command.pod }, deps) : tooLate();
}

const refusalOfName = ({ code, subject, nearest }: NotResolved): Refusal =>
  refusal(code, nearest === undefined ? subject : `${subject} (did you mean ${nearest}?)`);

interface NamedPod extends ResolvedNamespace {
  readonly name: string;
}

const NOT_THERE: ReadonlySet<string> = new Set(['pod_not_found', 'namespace_not_found']);

/** For somebody who may see the pod. */
async function lookUp(origin: Origin, { cluster: clusterName, namespace, name }: NamedPod, deps: FlowDeps) {
  const cluster = deps.clusters.get(clusterName);
  const found = await Promise.all([cluster.pod(namespace, name), cluster.podSecurity(namespace)]).catch(
    (thrown: unknown) => {
      if (NOT_THERE.has(toKdebugError(thrown).code)) return undefined;
      throw thrown;
    },
  );
  if (!found) return noSuchPodMessage(name, namespace);
  const [pod, podSecurity] = found;
  const target = targetContainerOf(pod, undefined);
  const targetContainerName = target.kind === 'container' ? target.container.name : undefined;
  const reader = { subject: { origin }, cluster: clusterName };
  const [facts, earlier, learnt] = await Promise.all([
    readPodFacts(pod, { cluster, targetContainerName, reader, waitMs: EXTRAS_MS }, deps),
    Promise.all(newestDebugContainers(pod).map((each) => earlierRun(each, { pod, origin, deps }))),
    learntOf(pod, clusterName, deps),
  ]);
  const policy = deps.policies.current();
  const possible = possibleRuns(pod, { origin, policy, level: podSecurity, cluster: clusterName, learnt });
  return podMessage({ facts, cluster: clusterName, podSecurity, possible, earlier });
}

async function learntOf(pod: Pod, cluster: string, deps: FlowDeps): Promise<UserAndGroup | undefined> {
  const kind = kindToLookUp(pod, {}, cluster);
  return kind === undefined ? undefined : inTime(deps, Promise.resolve(learntFrom(deps)(kind)), EXTRAS_MS);
}

const newestDebugContainers = ({ spec }: Pod): readonly PodEphemeralContainer[] =>
  spec.ephemeralContainers.slice(-MAX_LOOKED_UP);

/** Anyone who may patch the pod could write any run id there, so the run must name this container of this pod. */
async function earlierRun(
  { name: containerName, runId }: PodEphemeralContainer,
  { pod, origin, deps }: { readonly pod: Pod; readonly origin: Origin; readonly deps: FlowDeps },
): Promise<EarlierContainer> {
  if (runId === undefined) return { containerName };
  const run = await inTime(deps, readRunOfChannel(runId, origin.channelId, deps), RUN_MS);
  if (run?.containerName !== containerName || run.plan?.podUid !== pod.metadata.uid) return { containerName };
  const { anchor } = run.delivery;
  const isHere = anchor?.channelId === origin.channelId;
  const url = isHere ? await inTime(deps, deps.thread.permalink(anchor), RUN_MS) : undefined;
  return { containerName, run, ...defined({ url }) };
}
