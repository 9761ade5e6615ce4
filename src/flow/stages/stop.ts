import { buildStopContainer, stopContainerName, stopContextOf } from '../../core/container/build.ts';
import type { Plan } from '../../core/container/plan.ts';
import type { ContainerTermination, Pod } from '../../core/container/pod.ts';
import { stateOfContainer } from '../../core/container/status.ts';
import { problemOfRoom } from '../../core/container/target.ts';
import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { asUserId } from '../../core/ids.ts';
import { identityFor } from '../../core/policy/identity.ts';
import { aimOf, roomFor } from '../../core/policy/plan-request.ts';
import type { ImageAlias, Policy } from '../../core/policy/policy.ts';
import type { LaunchedRun, PlannedRun } from '../../core/run/life-cycle.ts';
import type { Outcome } from '../../core/run/outcome.ts';
import type { Origin, Refusal, Run, Stop, StopContainer } from '../../core/run/run.ts';
import { FOUND_NONE, isStopping, outcomeAfterStop, stopDeadlineMs } from '../../core/run/stop.ts';
import { LatestValue } from '../../lib/latest-value.ts';
import { defined } from '../../lib/object.ts';
import { record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import type { HeldRun } from '../held-run.ts';
import { refusal } from '../inbox/refusals.ts';
import type { LaunchResult, PodSeen } from '../ports/cluster.ts';
import { isIn, type PodRoom } from './pod-room.ts';
import { accessProblem } from './preflight.ts';

/** How often to look at a stop that is under way, even without news of the pod. */
const LOOK_MS = 2_000;

/** How long an ended run waits for the end of the container that stopped it. */
const MAX_END_WAIT_MS = 12_000;

/** The image that stops runs: the default image if it is diagnostic, else the first diagnostic one of the policy. */
const stopImage = ({ images, defaultImage }: Policy): ImageAlias | undefined =>
  [images[defaultImage ?? ''], ...Object.values(images)].find((image) => image?.diagnostic === true);

const originOfStop = ({ origin }: Pick<Run, 'origin'>, byUserId: string): Origin => ({
  ...origin,
  requesterId: asUserId(byUserId),
});

/**
 * Why this person cannot stop this run now, by the current policy, the cluster's rights and the pod; undefined: they
 * can. Without `pod`, the room in it counts only at the launch. Whether they may at all is not asked here. Throws when
 * it cannot know.
 */
export async function stopProblem(
  { id, origin, plan, request }: PlannedRun,
  { byUserId, pod }: { readonly byUserId: string; readonly pod: Pod | undefined },
  deps: FlowDeps,
): Promise<Refusal | undefined> {
  const policy = deps.policies.current();
  if (plan.targetContainerName === undefined) return refusal('stop_without_target');
  const image = stopImage(policy);
  if (!image) return refusal('stop_without_image');
  const { cluster, namespace, podName } = plan;
  const requester = originOfStop({ origin }, byUserId);
  const aim = aimOf({ ...request, cluster, namespace, image: image.alias }, requester, policy);
  if (aim.kind === 'deny') return refusal(aim.code, aim.subject);
  const denied = await accessProblem({ id, origin: requester }, { cluster, namespace, podName }, deps);
  if (denied) return denied;
  const full = pod && problemOfRoom(pod, roomOf(byUserId, policy));
  return full && refusal(full.code, full.subject);
}

/** Whoever has used up their own share may still stop what runs. */
const roomOf = (byUserId: string, { limits }: Policy) => ({
  ...roomFor(byUserId, limits),
  mostOfPerson: Number.POSITIVE_INFINITY,
});

interface StopperParts {
  readonly session: HeldRun;
  readonly run: LaunchedRun;
  readonly deps: FlowDeps;
  readonly room: PodRoom;
}

/**
 * Carries out what people asked to stop, for the holder of the run. Level-triggered: each step reads the stored stop and
 * the current pod, so any holder may continue, and a second container is never added. A failure is an answer on the
 * card; it never ends the run.
 */
export class Stopper {
  readonly #parts: StopperParts;
  #sent: string | undefined;
  #newest: Pod | undefined;

  constructor(parts: StopperParts) {
    this.#parts = parts;
  }

  /** When to call `carryOn` again, without any news. */
  get nextLookMs(): number {
    const { session, deps } = this.#parts;
    return isStopping(session.run) ? deps.clock.now() + LOOK_MS : Number.POSITIVE_INFINITY;
  }

  /** Does the next step. `seen`: the newest state of the pod, if there is a newer one. @throws KdebugError lease_lost, store_unreachable */
  async carryOn(seen: PodSeen | undefined): Promise<void> {
    const { session, deps } = this.#parts;
    if (seen?.kind === 'pod') this.#newest = seen.pod;
    if (!isStopping(session.run) || !this.#newest) return;
    try {
      await this.#step(this.#newest, session.run.stop);
    } catch (thrown) {
      const { code } = toKdebugError(thrown);
      if (code === 'lease_lost' || code === 'store_unreachable') throw thrown;
      deps.log.warn('stop not carried out, will retry', { runId: session.run.id, reason: code });
    }
  }

  async #step(pod: Pod, stop: Stop): Promise<void> {
    const { run, session, deps } = this.#parts;
    const { targetContainerName } = run.plan;
    if (stateOfContainer(pod, run.containerName, targetContainerName).kind !== 'running') return;
    const container = stop.container ?? (await this.#prepare(pod, stop));
    if (!container) return;
    if (isIn(pod, container.name)) await this.#follow(pod, container, stop);
    else if (this.#sent !== container.name) await this.#send(container, stop);
    if (isStopping(session.run) && deps.clock.now() >= stopDeadlineMs(session.run))
      await this.#fail(whyLate(session.run.stop));
  }

  /** Undefined: it cannot be stopped. */
  async #prepare(pod: Pod, { byUserId, attempt }: Stop): Promise<StopContainer | undefined> {
    const { session, run, deps } = this.#parts;
    const policy = deps.policies.current();
    const image = stopImage(policy);
    const problem = await stopProblem(run, { byUserId, pod }, deps);
    if (problem || !image) {
      await this.#fail(problem?.message ?? '');
      return undefined;
    }
    const container: StopContainer = {
      name: stopContainerName(run.id, run.plan.podUid, attempt),
      image: image.reference,
      notAfterMs: deps.clock.now() + policy.limits.startDeadlineMs,
      ...defined({ securityContext: stopContextOf(run.plan, pod) }),
    };
    return (await session.apply({ kind: 'stop-launching', container })).stop?.container;
  }

  async #send(container: StopContainer, { byUserId }: Stop): Promise<void> {
    const { run, deps, room } = this.#parts;
    const { plan } = run;
    const policy = deps.policies.current();
    const full = await room.reserve({ ...plan, requesterId: byUserId }, container.name, roomOf(byUserId, policy));
    if (full) return this.#fail(full.message);
    await record(deps, run, 'patch', {
      actorId: byUserId,
      cluster: plan.cluster,
      pod: `${plan.namespace}/${plan.podName}`,
      podUid: plan.podUid,
      container: container.name,
      image: container.image,
      stops: run.containerName,
    });
    const actingAs = identityFor(policy.identity, originOfStop(run, byUserId));
    const { name: containerName, ...mark } = container;
    const answer = await deps.clusters.get(plan.cluster).launch({
      pod: { namespace: plan.namespace, name: plan.podName, uid: plan.podUid },
      container: buildStopContainer(plan, { ...mark, runId: run.id, containerName, byUserId }),
      runId: run.id,
      ...defined({ actingAs }),
    });
    this.#sent = container.name;
    const why = whyNotSent(answer);
    if (why === undefined) return;
    room.release(plan, container.name);
    await this.#fail(why);
  }

  async #follow(pod: Pod, { name }: StopContainer, stop: Stop): Promise<void> {
    const { session, run, deps } = this.#parts;
    const state = stateOfContainer(pod, name, run.plan.targetContainerName);
    if (state.kind === 'start-failed') await this.#fail(`${state.reason}: ${state.message}`);
    if (state.kind !== 'terminated' || stop.ended) return;
    const { exitCode, message } = state.termination;
    await session.apply({ kind: 'stop-ended', exitCode, message, atMs: deps.clock.now() });
    if (exitCode !== 0 && exitCode !== FOUND_NONE) await this.#fail(messageOf(state.termination));
  }

  async #fail(why: string): Promise<void> {
    const { session, deps } = this.#parts;
    const actorId = session.run.stop?.byUserId;
    await record(deps, session.run, 'stop', { actorId, kind: 'failed', why });
    await session.apply({ kind: 'stop-failed', why, atMs: deps.clock.now() });
  }
}

const messageOf = ({ message, exitCode }: Pick<ContainerTermination, 'message' | 'exitCode'>): string =>
  message.trim() || `the container that should stop it ended with exit code ${exitCode}`;

function whyLate({ container, ended }: Stop): string {
  if (ended) return ended.exitCode === 0 ? 'it still runs after its processes were ended' : messageOf(ended);
  return container
    ? 'the node did not run the container that should stop it in time'
    : 'the cluster could not be asked in time';
}

/** Undefined: it is in the pod, or the pod is gone, which ends the run. */
function whyNotSent(answer: LaunchResult): string | undefined {
  if (answer.kind === 'refused') return `the cluster refused it: ${answer.message}`;
  return answer.kind === 'unsupported' ? 'this API server has no ephemeralcontainers subresource' : undefined;
}

/**
 * The outcome of a run whose container has ended: `stopped` if somebody's stop ended it. May wait some seconds for the
 * end of the stop's own container, which is the better witness. @throws KdebugError lease_lost
 */
export async function orStopped(session: HeldRun, outcome: Outcome, deps: FlowDeps): Promise<Outcome> {
  const { plan, stop } = session.run;
  if (!plan || !stop?.container || stop.failed) return outcome;
  const exitCode = stop.ended?.exitCode ?? (await exitCodeOfStop(session, { plan, name: stop.container.name }, deps));
  return outcomeAfterStop(outcome, stop, exitCode);
}

/** Undefined: unknown, because the pod is gone or its node is silent. */
async function exitCodeOfStop(
  session: HeldRun,
  { plan, name }: { readonly plan: Plan; readonly name: string },
  { clock, clusters }: FlowDeps,
): Promise<number | undefined> {
  const untilMs = clock.now() + MAX_END_WAIT_MS;
  const latest = new LatestValue<PodSeen>(clock);
  const pod = { namespace: plan.namespace, name: plan.podName, uid: plan.podUid };
  const subscription = clusters.get(plan.cluster).watch(pod, (seen) => latest.put(seen));
  const ignore = session.onChange(() => latest.nudge());
  try {
    while (clock.now() < untilMs) {
      const seen = await latest.next(untilMs);
      if (session.isOver) throw new KdebugError('lease_lost');
      if (seen && seen.kind !== 'pod') return undefined;
      const exitCode = seen && exitCodeIn(seen.pod, name, plan);
      if (exitCode !== undefined) return exitCode;
    }
    return undefined;
  } finally {
    ignore();
    subscription.close();
  }
}

/** Never sent, or never started: it stopped nothing. */
function exitCodeIn(pod: Pod, name: string, { targetContainerName }: Plan): number | undefined {
  if (!isIn(pod, name)) return FOUND_NONE;
  const state = stateOfContainer(pod, name, targetContainerName);
  if (state.kind === 'start-failed') return FOUND_NONE;
  return state.kind === 'terminated' ? state.termination.exitCode : undefined;
}
