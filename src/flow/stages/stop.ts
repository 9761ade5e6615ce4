import { buildStopContainer, stopContainerName, stopContextOf } from '../../core/container/build.ts';
import { fingerprintOf } from '../../core/container/fingerprint.ts';
import type { ContainerTermination, Pod } from '../../core/container/pod.ts';
import { stateOfContainer } from '../../core/container/status.ts';
import { problemOfRoom } from '../../core/container/target.ts';
import { toKdebugError } from '../../core/errors.ts';
import { asUserId } from '../../core/ids.ts';
import { identityFor } from '../../core/policy/identity.ts';
import { aimOf, roomFor } from '../../core/policy/plan-request.ts';
import type { ImageAlias, Policy } from '../../core/policy/policy.ts';
import { foreignLine } from '../../core/report/log/clean-text.ts';
import type { LaunchedRun, PlannedRun } from '../../core/run/life-cycle.ts';
import type { Origin, Refusal, Run, Stop, StopContainer } from '../../core/run/run.ts';
import { FOUND_NONE, isStopping, stopDeadlineMs } from '../../core/run/stop.ts';
import { defined } from '../../lib/object.ts';
import { Trouble } from '../../lib/trouble.ts';
import { record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import type { HeldRun } from '../held-run.ts';
import { refusal } from '../inbox/refusals.ts';
import type { LaunchResult, PodSeen } from '../ports/cluster.ts';
import { isIn, type PodRoom } from './pod-room.ts';
import { accessProblem } from './preflight.ts';

/** How often to look at a stop that is under way, even without news of the pod. */
const LOOK_MS = 2_000;
/** Of a reason on the card: words of a container, a webhook or the API server, above the buttons. */
const MAX_WHY = 300;

/**
 * The image that stops runs: the default image if it is diagnostic, else autodiagnose, else the first diagnostic one of
 * the policy.
 */
const stopImage = ({ images, defaultImage }: Policy): ImageAlias | undefined =>
  [images[defaultImage ?? ''], images.autodiagnose, ...Object.values(images)].find(
    (image) => image?.diagnostic === true,
  );

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
  { id, origin, plan, request, stop }: PlannedRun,
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
  const full = pod && problemOfRoom(pod, roomOf({ byUserId, stop }, policy));
  return full && refusal(full.code, full.subject);
}

interface StopTry {
  readonly byUserId: string;
  readonly stop: Stop | undefined;
}

/**
 * Whoever has used up their own share may still stop what runs, once: a command that hides from every stop must not fill the pod with them.
 */
function roomOf({ byUserId, stop }: StopTry, { limits }: Policy) {
  const room = roomFor(byUserId, limits);
  const isFirst = stop === undefined || (stop.attempt === 1 && !stop.failed);
  return isFirst ? { ...room, mostOfPerson: Number.POSITIVE_INFINITY } : room;
}

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
  readonly #trouble: Trouble;
  #sent: string | undefined;
  #newest: Pod | undefined;

  constructor(parts: StopperParts) {
    this.#parts = parts;
    this.#trouble = new Trouble(parts.deps, { begins: 'stop not carried out, will retry', ends: 'stop carried on' });
  }

  /** When to call `carryOn` again, without any news. */
  get nextLookMs(): number {
    const { session, deps } = this.#parts;
    return isStopping(session.run) ? deps.clock.now() + LOOK_MS : Number.POSITIVE_INFINITY;
  }

  /** Does the next step. `seen`: the newest state of the pod, if there is a newer one. @throws KdebugError lease_lost, store_unreachable */
  async carryOn(seen: PodSeen | undefined): Promise<void> {
    const { session } = this.#parts;
    if (seen?.kind === 'pod') this.#newest = seen.pod;
    if (!isStopping(session.run) || !this.#newest) return;
    try {
      await this.#step(this.#newest, session.run.stop);
      this.#trouble.worked();
    } catch (thrown) {
      const { code } = toKdebugError(thrown);
      if (code === 'lease_lost' || code === 'store_unreachable') throw thrown;
      this.#trouble.failed({ runId: session.run.id, reason: code });
    }
  }

  async #step(pod: Pod, stop: Stop): Promise<void> {
    const { run, session, deps } = this.#parts;
    const { targetContainerName } = run.plan;
    if (stateOfContainer(pod, run.containerName, targetContainerName).kind !== 'running') return;
    const container = stop.container ?? (await this.#prepare(pod, stop));
    if (!container) return;
    // Anybody who may patch the pod can use the name before us: then sending tells whether it does as it should.
    const isVerified = this.#sent === container.name || isStopIn(pod, run, { ...stop, container });
    if (!isVerified) await this.#send(container, stop);
    else if (isIn(pod, container.name)) await this.#follow(pod, container, stop);
    if (isStopping(session.run) && deps.clock.now() >= stopDeadlineMs(session.run))
      await this.#fail(whyLate(session.run.stop));
  }

  /** Undefined: it cannot be stopped. */
  async #prepare(pod: Pod, stop: Stop): Promise<StopContainer | undefined> {
    const { session, run, deps } = this.#parts;
    const policy = deps.policies.current();
    const image = stopImage(policy);
    const { byUserId, attempt } = stop;
    const problem = await stopProblem({ ...run, stop }, { byUserId, pod }, deps);
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

  async #send(container: StopContainer, stop: Stop): Promise<void> {
    const { byUserId } = stop;
    const { run, deps, room } = this.#parts;
    const { plan } = run;
    const policy = deps.policies.current();
    const full = await room.reserve(
      { ...plan, requesterId: byUserId },
      container.name,
      roomOf({ byUserId, stop }, policy),
    );
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
    const answer = await deps.clusters.get(plan.cluster).launch({
      pod: { namespace: plan.namespace, name: plan.podName, uid: plan.podUid },
      container: containerOf(run, { byUserId, container }),
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

  async #fail(reason: string): Promise<void> {
    const { session, deps } = this.#parts;
    const actorId = session.run.stop?.byUserId;
    const why = foreignLine(reason, MAX_WHY);
    await record(deps, session.run, 'stop', { actorId, kind: 'failed', why });
    await session.apply({ kind: 'stop-failed', why, atMs: deps.clock.now() });
  }
}

interface SentStop extends Pick<Stop, 'byUserId'> {
  readonly container: StopContainer;
}

function containerOf({ id, plan }: Pick<PlannedRun, 'id' | 'plan'>, { byUserId, container }: SentStop) {
  const { name: containerName, ...mark } = container;
  return buildStopContainer(plan, { ...mark, runId: id, containerName, byUserId });
}

/** Whether the pod holds the container that stops this run, unchanged; one that a webhook has changed is not recognised. */
export function isStopIn(pod: Pod, run: Pick<PlannedRun, 'id' | 'plan'>, stop: SentStop): boolean {
  const sent = fingerprintOf(containerOf(run, stop));
  return pod.spec.ephemeralContainers.some(
    ({ name, fingerprint }) => name === stop.container.name && fingerprint === sent,
  );
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
