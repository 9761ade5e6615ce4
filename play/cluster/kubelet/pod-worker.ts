import { sleep } from '../clock.ts';
import { type PodObject, rfc3339, type Termination } from '../objects/pod.ts';
import { credentialsOf, maySee } from '../programs/access.ts';
import type { Program } from '../programs/process.ts';
import { playWatch } from '../programs/recorded-watch.ts';
import { nothingFound, playRecording } from '../programs/recordings.ts';
import { type Neighbour, stopper } from '../programs/stop.ts';
import { type Exit, Instance } from './instance.ts';
import { filesFor } from './pod-files.ts';
import { type PodView, phaseOf } from './pod-status.ts';
import { Retries, type SlotEvent } from './retries.ts';
import { Slot } from './slot.ts';
import { created, envOf, planStart, pulled, type StartReady } from './start-plan.ts';
import type { PodWorkloads, WorkerParts } from './worker-parts.ts';

const KILLED: Exit = { exitCode: 137, reason: 'Error' };
const TERMINATED: Exit = { exitCode: 143, reason: 'Error' };
/** One pod on its node: starts its containers, keeps them apart, restarts what crashes, ends what is joined to the dead. */
export class PodWorker {
  pod: PodObject;
  readonly #parts: WorkerParts;
  readonly #workloads: PodWorkloads;
  readonly #mains: Slot[];
  readonly #ephemerals: Slot[] = [];
  readonly #startedAt: string;
  readonly #ip: string;
  readonly #retries: Retries;
  #isStopped = false;
  #isFrozen = false;

  constructor(pod: PodObject, workloads: PodWorkloads, ip: string, parts: WorkerParts) {
    this.pod = pod;
    this.#workloads = workloads;
    this.#parts = parts;
    this.#ip = ip;
    this.#mains = pod.spec.containers.map((container) => new Slot(container, false));
    this.#startedAt = rfc3339(parts.world.clock.now());
    this.#retries = new Retries(parts.timing, parts.world.clock, {
      pod: () => this.pod,
      start: (slot) => this.#start(slot),
      later: (slot, ms, act) => this.#later(slot, ms, act),
      tell: (slot, event) => this.#tell(slot, event),
      changed: () => this.#changed(),
    });
  }

  get view(): PodView {
    const now = rfc3339(this.#parts.world.clock.now());
    return {
      pod: this.pod,
      mains: this.#mains,
      ephemerals: this.#ephemerals,
      ip: this.#ip,
      startedAt: this.#startedAt,
      now,
    };
  }

  /** Whether its status but that of its ephemeral containers is somebody else's. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** A pod as it was recorded: what its status shows as running runs on, nothing else ever starts. */
  freeze(): void {
    this.#isFrozen = true;
    const { world, makeLog } = this.#parts;
    for (const slot of this.#mains) {
      const { container } = slot;
      const status = this.pod.status.containerStatuses?.find(({ name }) => name === container.name);
      if (!status?.state.running) continue;
      slot.instance = new Instance({
        id: status.containerID,
        container,
        credentials: credentialsOf(container, this.pod.spec, status.user?.linux ?? { uid: 0, gid: 0 }),
        imageId: status.imageID,
        now: () => world.clock.now(),
        makeLog,
        banner: '',
        onExit: () => undefined,
      });
    }
  }

  startMains(): void {
    if (this.#isFrozen) return;
    for (const slot of this.#mains) this.#start(slot);
  }

  /** Takes up the ephemeral containers that are new; safe to call again. Starts them after the kubelet's own time. */
  startEphemerals(): void {
    const known = new Set(this.#ephemerals.map(({ container }) => container.name));
    for (const container of this.pod.spec.ephemeralContainers ?? []) {
      if (known.has(container.name) || this.#isStopped || this.#isOver()) continue;
      const slot = new Slot(container, true);
      if (this.#isFrozen && !(this.#targetOf(slot) ?? this.#mains.find(({ isRunning }) => isRunning))?.isRunning)
        continue;
      this.#ephemerals.push(slot);
      this.#later(slot, this.#parts.timing.startMs, () => this.#start(slot));
    }
  }

  /** The instance with this id, while it is known. */
  instance(id: string): Instance | undefined {
    return [...this.#mains, ...this.#ephemerals]
      .flatMap((slot) => [slot.instance, slot.previous])
      .find((each) => each?.id === id);
  }

  /** Ends a container's process. Restarts follow the pod's policy unless it is held. @throws Error no such container */
  kill(name: string, exit: Exit): void {
    this.#slot(name).instance?.end(exit);
  }

  /** Holds a container in a state of the test's choice, or lets it go on. */
  hold(name: string, state: 'running' | 'exited' | 'crash-looping'): void {
    const slot = this.#slot(name);
    slot.cancel();
    slot.isHeld = state !== 'running';
    if (state === 'running') {
      if (!slot.isRunning) this.#start(slot);
      return;
    }
    slot.instance?.end({ exitCode: 1, reason: 'Error' });
    if (state === 'crash-looping') this.#retries.backOff(slot);
    this.#changed();
  }

  /** Ends everything, as a deletion does; nothing starts any more. */
  stop(): void {
    this.#isStopped = true;
    for (const slot of [...this.#ephemerals, ...this.#mains]) {
      slot.cancel();
      if (!slot.isRunning) continue;
      const { name } = slot.container;
      this.#tell(slot, { reason: 'Killing', message: `Stopping container ${name}`, isNormal: true });
      slot.instance?.end(slot.isScripted ? KILLED : { exitCode: 143, reason: 'Error' });
    }
  }

  /** Nothing of it is needed any more, logs neither. */
  discard(): void {
    this.#isStopped = true;
    for (const slot of [...this.#ephemerals, ...this.#mains]) {
      slot.cancel();
      slot.instance?.discard();
      slot.previous?.discard();
    }
  }

  #slot(name: string): Slot {
    const found = [...this.#mains, ...this.#ephemerals].find(({ container }) => container.name === name);
    if (!found) throw new Error(`no container ${name} in pod ${this.pod.metadata.name}`);
    return found;
  }

  #later(slot: Slot, ms: number, act: () => void): void {
    if (ms === 0) {
      act();
      return;
    }
    slot.cancel();
    slot.cancel = this.#parts.world.clock.after(ms, act);
  }

  #start(slot: Slot): void {
    if (this.#isStopped || slot.isRunning) return;
    const plan = planStart(this.pod, slot.container, this.#parts.images, this.#targetOf(slot)?.asTarget);
    if (plan.kind === 'problem') {
      this.#retries.afterProblem(slot, plan);
      return;
    }
    this.#tell(slot, pulled(slot.container));
    this.#tell(slot, created(slot.container));
    this.#run(slot, plan);
    this.#tell(slot, { reason: 'Started', message: `Started container ${slot.container.name}`, isNormal: true });
  }

  #run(slot: Slot, plan: StartReady): void {
    const { world, makeLog } = this.#parts;
    const program = this.#programOf(slot, plan);
    slot.waiting = undefined;
    slot.isScripted = plan.program !== undefined;
    slot.failures = 0;
    slot.previous?.discard();
    slot.previous = slot.instance;
    const instance = new Instance({
      container: slot.container,
      credentials: plan.credentials,
      imageId: plan.imageId,
      now: () => world.clock.now(),
      makeLog,
      banner: program ? '' : 'listening on :8080\n',
      onExit: (ended) => this.#ended(slot, ended),
    });
    slot.instance = instance;
    this.#changed();
    const target = this.#targetOf(slot);
    if (program) {
      const seen = {
        argv: plan.argv,
        env: envOf(slot.container),
        files: filesFor({ pod: this.pod, slot, plan, target, images: this.#parts.images }),
      };
      instance.run(program, seen, (ms, signal) => sleep(world.clock, ms, signal));
    }
    if (!slot.isEphemeral) this.#retryJoining(slot);
  }

  /** Containers that wait for this one as their target are tried again, once the kubelet has noticed that it runs. */
  #retryJoining(target: Slot): void {
    for (const slot of this.#ephemerals) {
      const isWaiting =
        slot.container.targetContainerName === target.container.name && !slot.instance && slot.failures > 0;
      if (isWaiting) this.#later(slot, this.#parts.timing.startMs, () => this.#start(slot));
    }
  }

  #ended(slot: Slot, instance: Instance): void {
    if (!slot.isEphemeral) {
      this.#endJoined(slot);
      if (!this.#isStopped) this.#retries.afterEnd(slot, instance);
    }
    this.#changed();
  }

  /** The kernel ends every process of a PID namespace together with its first: at the same time. */
  #endJoined(target: Slot): void {
    const isOver = this.#isOver();
    const killed = { ...KILLED, finishedAt: target.instance?.termination?.finishedAt };
    for (const slot of this.#ephemerals) {
      const isJoined = slot.container.targetContainerName === target.container.name;
      // A tracer holds what it watches until it has told its end.
      if (isJoined && slot.isRunning && slot.atTargetEnd && target.instance?.termination) {
        slot.atTargetEnd(target.instance.termination);
        slot.instance?.end({ ...killed, exitCode: 0, reason: 'Completed' });
      } else if (isOver || isJoined) slot.instance?.end(killed);
      if (isOver) slot.cancel();
    }
  }

  #targetOf(slot: Slot): Slot | undefined {
    const name = slot.container.targetContainerName;
    return name === undefined || name === '' ? undefined : this.#mains.find(({ container }) => container.name === name);
  }

  /** Undefined: a service that stays until it is stopped. */
  #programOf(slot: Slot, plan: StartReady): Program | undefined {
    const { recorded: image } = plan.image;
    if (image === undefined || plan.program) return plan.program;
    const target = this.#targetOf(slot);
    const { credentials: user } = plan;
    if (image === 'autodiagnose' && this.#isFrozen) return nothingFound;
    if (image === 'autodiagnose' && plan.argv[0] === 'stop')
      return stopper(user, () => this.#neighboursOf(slot, target));
    const owner = target?.instance?.credentials;
    const isSeen = owner !== undefined && maySee(user, owner);
    const workload = this.#workloads[target?.container.name ?? ''];
    const scene = { image, workload, user, owner, isSeen };
    if (image !== 'blackbox') return (process) => playRecording(process, scene);
    const atTargetEnd = (act: (end: Termination) => void): void => {
      slot.atTargetEnd = act;
    };
    return (process) => playWatch(process, { ...scene, atTargetEnd });
  }

  /** The running containers that share the process namespace. */
  #neighboursOf(slot: Slot, target: Slot | undefined): readonly Neighbour[] {
    const joined = this.#ephemerals.filter((other) => target !== undefined && this.#targetOf(other) === target);
    return [...(target ? [target] : []), ...joined].flatMap((other) =>
      other === slot || !other.isRunning || !other.instance
        ? []
        : [
            {
              env: envOf(other.container),
              credentials: other.instance.credentials,
              terminate: () => other.instance?.end(TERMINATED),
            },
          ],
    );
  }

  #isOver(): boolean {
    const phase = phaseOf({ pod: this.pod, mains: this.#mains });
    return phase === 'Succeeded' || phase === 'Failed';
  }

  #tell(slot: Slot, { reason, message, isNormal = false }: SlotEvent): void {
    const fieldPath = `spec.${slot.isEphemeral ? 'ephemeralContainers' : 'containers'}{${slot.container.name}}`;
    this.#parts.world.events.tell({ pod: this.pod, fieldPath, type: isNormal ? 'Normal' : 'Warning', reason, message });
  }

  #changed(): void {
    this.#parts.onChange();
  }
}
