import type { Clock } from '../clock.ts';
import { type PodObject, rfc3339 } from '../objects/pod.ts';
import type { Instance } from './instance.ts';
import { growth, type Slot, startError } from './slot.ts';
import type { StartProblem } from './start-plan.ts';
import type { Timing } from './timing.ts';

export interface SlotEvent {
  readonly reason: string;
  readonly message: string;
  readonly isNormal?: boolean;
}

/** What the retries need of the pod's worker. */
interface Hooks {
  pod(): PodObject;
  start(slot: Slot): void;
  /** Replaces what the slot was waiting for. */
  later(slot: Slot, ms: number, act: () => void): void;
  tell(slot: Slot, event: SlotEvent): void;
  changed(): void;
}

/** What the kubelet does about containers that did not start or have ended: say why, wait, try again. */
export class Retries {
  readonly #timing: Timing;
  readonly #clock: Clock;
  readonly #hooks: Hooks;

  constructor(timing: Timing, clock: Clock, hooks: Hooks) {
    this.#timing = timing;
    this.#clock = clock;
    this.#hooks = hooks;
  }

  /** Tells it, and tries again when the kubelet would. */
  afterProblem(slot: Slot, problem: StartProblem): void {
    for (const event of problem.events) this.#hooks.tell(slot, event);
    slot.failures += 1;
    // The kubelet shows a target that is not running only from its second try on (Kubernetes 1.34, by experiment).
    if (problem.retry !== 'target' || slot.failures > 1)
      slot.waiting = { reason: problem.reason, message: problem.message };
    slot.imageId = problem.imageId ?? '';
    if (problem.isStartError) slot.last = startError(problem.message, rfc3339(this.#clock.now()));
    this.#hooks.changed();
    if (problem.retry === 'pull')
      this.#hooks.later(slot, this.#timing.pullErrorMs, () => this.#pullBackOff(slot, problem));
    else if (problem.retry !== 'never') this.#hooks.later(slot, this.#timing.syncMs, () => this.#hooks.start(slot));
  }

  #pullBackOff(slot: Slot, problem: StartProblem): void {
    const { image } = slot.container;
    slot.waiting = {
      reason: 'ImagePullBackOff',
      message: `Back-off pulling image "${image}": ErrImagePull: ${problem.message}`,
    };
    this.#hooks.tell(slot, { reason: 'BackOff', message: `Back-off pulling image "${image}"`, isNormal: true });
    this.#hooks.tell(slot, { reason: 'Failed', message: 'Error: ImagePullBackOff' });
    this.#hooks.changed();
    this.#hooks.later(slot, this.#timing.pullBackOffMs * growth(slot.failures), () => this.#hooks.start(slot));
  }

  /** A main container's process is gone: start it again if the pod's policy says so, the first time at once. */
  afterEnd(slot: Slot, instance: Instance): void {
    const policy = this.#hooks.pod().spec.restartPolicy ?? 'Always';
    const isWanted = policy === 'Always' || (policy === 'OnFailure' && instance.termination?.exitCode !== 0);
    if (!isWanted) return;
    slot.last = instance.termination;
    if (slot.isHeld) return;
    const again = () => {
      slot.restarts += 1;
      this.#hooks.start(slot);
    };
    const { relistMs, crashBackOffMs } = this.#timing;
    const pause = () => {
      this.backOff(slot);
      this.#hooks.later(slot, crashBackOffMs * growth(slot.restarts), again);
    };
    this.#hooks.later(slot, Math.max(relistMs, 1), slot.restarts === 0 ? again : pause);
  }

  /** Shows `CrashLoopBackOff`; starts nothing by itself. */
  backOff(slot: Slot): void {
    const { name, namespace, uid } = this.#hooks.pod().metadata;
    const seconds = 10 * growth(Math.max(1, slot.restarts));
    const { name: container } = slot.container;
    slot.waiting = {
      reason: 'CrashLoopBackOff',
      message: `back-off ${seconds}s restarting failed container=${container} pod=${name}_${namespace}(${uid})`,
    };
    slot.last = slot.instance?.termination ?? slot.last;
    const message = `Back-off restarting failed container ${container} in pod ${name}_${namespace}(${uid})`;
    this.#hooks.tell(slot, { reason: 'BackOff', message });
    this.#hooks.changed();
  }
}
