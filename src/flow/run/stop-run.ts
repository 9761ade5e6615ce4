import { stopContainerName } from '../../core/container/build.ts';
import { classText } from '../../core/container/class-facts.ts';
import { type Plan, planHash } from '../../core/container/plan.ts';
import type { ContainerTermination, Pod } from '../../core/container/pod.ts';
import { stateOfContainer } from '../../core/container/status.ts';
import { toKdebugError } from '../../core/errors.ts';
import { canonicalJson } from '../../core/hash.ts';
import { identityFor } from '../../core/planning/identity.ts';
import { foreignLine } from '../../core/redact/clean-text.ts';
import type { LaunchedRun } from '../../core/run/life-cycle.ts';
import type { Run, Stop, StopContainer } from '../../core/run/run.ts';
import { FOUND_NONE, isStopping, stopDeadlineMs } from '../../core/run/stop.ts';
import { stopFailedMessage } from '../../core/say/answers/stop-messages.ts';
import { defined } from '../../lib/object.ts';
import { Trouble } from '../../lib/trouble.ts';
import { patchFacts, record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import { privateDestinationOf } from '../context/destinations.ts';
import type { HeldRun } from '../context/held-run.ts';
import { isIn, type PodRoom } from '../context/pod-room.ts';
import { refusal } from '../context/refusals.ts';
import { isForRequesterAlone } from '../planning/channel-check.ts';
import { isRunningIn, originOfStop, planOfStop, roomOf } from '../planning/stop-check.ts';
import type { LaunchResult, PodSeen } from '../ports/cluster.ts';
import { isStopIn, stopContainerOf } from './stop-end.ts';

/** The time between two checks of a stop that is under way, even without news of the pod. */
const CHECK_EVERY_MS = 2_000;
/** Of a reason on the card: words of a container, a webhook or the API server, above the buttons. */
const MAX_WHY = 300;

interface StopperParts {
  readonly held: HeldRun;
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
    this.#trouble = new Trouble(parts.deps, { begins: 'stop not carried out, will retry', ends: 'stop recovered' });
  }

  /** The time to call `carryOn` again, by `clock.elapsed`, without any news. */
  get nextCheckMs(): number {
    const { held, deps } = this.#parts;
    return isStopping(held.run) ? deps.clock.elapsed() + CHECK_EVERY_MS : Number.POSITIVE_INFINITY;
  }

  /** Does the next step. `seen`: the newest state of the pod, if there is a newer one. @throws KdebugError lease_lost, store_unreachable */
  async carryOn(seen: PodSeen | undefined): Promise<void> {
    const { held } = this.#parts;
    if (seen?.kind === 'pod') this.#newest = seen.pod;
    if (!isStopping(held.run) || !this.#newest) return;
    try {
      await this.#step(this.#newest, held.run.stop);
      this.#trouble.worked();
    } catch (thrown) {
      const { code } = toKdebugError(thrown);
      if (code === 'lease_lost' || code === 'store_unreachable') throw thrown;
      this.#trouble.failed({ runId: held.run.id, reason: code });
    }
  }

  async #step(pod: Pod, stop: Stop): Promise<void> {
    const { run, held, deps } = this.#parts;
    if (!isRunningIn(pod, run)) return;
    if (stop.container) await this.#carryOnWith(stop.container, pod, stop);
    else await this.#begin(pod, stop);
    // By the wall clock: the run records when the stop was asked for, perhaps at another replica.
    if (isStopping(held.run) && deps.clock.now() >= stopDeadlineMs(held.run)) await this.#failLate(held.run.stop);
  }

  async #begin(pod: Pod, stop: Stop): Promise<void> {
    const plan = await this.#plan(pod, stop);
    const container = plan && (await this.#prepare(plan, stop));
    if (container) await this.#send(container, plan, stop);
  }

  async #carryOnWith(container: StopContainer, pod: Pod, stop: Stop): Promise<void> {
    const { run } = this.#parts;
    // Anybody who may patch the pod can use the name before us: then sending tells whether it does as it should.
    const isVerified = this.#sent === container.name || isStopIn(pod, { ...run, stop: { ...stop, container } });
    if (isVerified && isIn(pod, container.name)) return this.#follow(pod, container, stop);
    // Stored some time ago: the policy or the pod may have changed since.
    const plan = isVerified ? undefined : await this.#plan(pod, stop);
    if (plan) await this.#send(container, plan, stop);
  }

  /** Undefined: refused, and the card says why. */
  async #plan(pod: Pod, stop: Stop): Promise<Plan | undefined> {
    const { run, deps } = this.#parts;
    const planned = await planOfStop({ ...run, stop }, { byUserId: stop.byUserId, pod }, deps);
    if (planned && !('code' in planned)) return planned;
    await this.#fail(planned?.message ?? '');
    return undefined;
  }

  /** Undefined: the stop is over. */
  async #prepare({ image, podUid, securityContext }: Plan, stop: Stop): Promise<StopContainer | undefined> {
    const { held, run, deps } = this.#parts;
    const container: StopContainer = {
      name: stopContainerName(run.id, podUid, stop.attempt),
      image,
      notAfterMs: deps.clock.now() + deps.policies.current().limits.startDeadlineMs,
      ...defined({ securityContext }),
    };
    return (await held.apply({ kind: 'stop-launching', container })).stop?.container;
  }

  async #send(container: StopContainer, plan: Plan, stop: Stop): Promise<void> {
    const { byUserId } = stop;
    const { run, deps, room } = this.#parts;
    if (!isPlanned(container, plan)) return this.#fail(refusal('stop_changed').message);
    const policy = deps.policies.current();
    const full = await room.reserve(plan, container.name, roomOf({ byUserId, stop }, policy));
    if (full) return this.#fail(full.message);
    await record(deps, run, 'patch', {
      actorId: byUserId,
      ...patchFacts(plan, { name: container.name, image: plan.image }),
      profile: plan.profile,
      class: classText(plan.class, plan.classReasons),
      planHash: planHash(plan),
      stops: run.containerName,
    });
    const actingAs = identityFor(policy.identity, originOfStop(run, byUserId));
    const answer = await deps.clusters.get(plan.cluster).launch({
      pod: { namespace: plan.namespace, name: plan.podName, uid: plan.podUid },
      container: stopContainerOf({ ...run, stop: { byUserId, container } }),
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
    const { held, run, deps } = this.#parts;
    const state = stateOfContainer(pod, name, run.plan.targetContainerName);
    if (state.kind === 'start-failed') await this.#fail(`${state.reason}: ${state.message}`);
    if (state.kind !== 'terminated' || stop.ended) return;
    const { exitCode, message } = state.termination;
    await held.apply({ kind: 'stop-ended', exitCode, message, atMs: deps.clock.now() });
    if (exitCode !== 0 && exitCode !== FOUND_NONE) await this.#failAsItSays(state.termination);
  }

  #failLate({ container, ended }: Stop): Promise<void> {
    if (ended && ended.exitCode !== 0) return this.#failAsItSays(ended);
    if (ended) return this.#fail('it still runs after its processes were ended');
    return this.#fail(
      container
        ? 'the node did not run the container that should stop it in time'
        : 'the cluster could not be asked in time',
    );
  }

  async #failAsItSays({ message, exitCode }: Pick<ContainerTermination, 'message' | 'exitCode'>): Promise<void> {
    const words = message.trim();
    if (words === '') return this.#fail(`the container that should stop it ended with exit code ${exitCode}`);
    await this.#fail(words, { isOutput: true });
    await this.#notify(this.#parts.held.run);
  }

  /**
   * A container's words are output: if output is private, the card leaves them out and the requester gets them. Never
   * rejects.
   */
  async #notify(run: Run): Promise<void> {
    const { deps } = this.#parts;
    try {
      if (!(await isForRequesterAlone(run, deps))) return;
      await deps.thread.tell(privateDestinationOf(run), stopFailedMessage(run, run.stop?.failed?.why ?? ''));
    } catch (thrown) {
      deps.log.warn('could not tell why a stop failed', { runId: run.id, reason: toKdebugError(thrown).code });
    }
  }

  async #fail(reason: string, { isOutput = false } = {}): Promise<void> {
    const { held, deps } = this.#parts;
    const actorId = held.run.stop?.byUserId;
    const why = foreignLine(reason, MAX_WHY);
    await record(deps, held.run, 'stop', { actorId, kind: 'failed', why });
    await held.apply({
      kind: 'stop-failed',
      why,
      ...defined({ isOutput: isOutput || undefined }),
      atMs: deps.clock.now(),
    });
  }
}

/** The stored container is the one that the plan makes. */
const isPlanned = ({ image, securityContext }: StopContainer, plan: Plan): boolean =>
  image === plan.image && canonicalJson(securityContext ?? {}) === canonicalJson(plan.securityContext ?? {});

/** Undefined: it is in the pod, or the pod is gone, which ends the run. */
function whyNotSent(answer: LaunchResult): string | undefined {
  if (answer.kind === 'refused') return `the cluster refused it: ${answer.message}`;
  return answer.kind === 'unsupported' ? 'this API server has no ephemeralcontainers subresource' : undefined;
}
