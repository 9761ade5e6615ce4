import { setTimeout as pause } from 'node:timers/promises';
import { at, listAt } from '../../play/test/cluster/recorded/json.ts';
import type { Target } from '../../play/test/cluster/recorded/target.ts';
import { podOf } from '../cluster/testbed/states.ts';
import { Stage } from '../troubles/stage.ts';

/** A namespace of a real cluster in which one program of the test bed runs, with its probe and its clients. */
export class HealthyStage extends Stage {
  readonly #program: string;

  constructor(target: Target, program: string) {
    const pod = JSON.parse(JSON.stringify(podOf({ program, name: 'healthy' })));
    super(target, { name: `bed-${program}`, objects: [pod], until: { running: 1 } });
    this.#program = program;
  }

  /** Resolves so many seconds after the start of the program's container. @throws Error if it has been restarted */
  async untilAge(seconds: number): Promise<void> {
    const [pod] = await this.ofNamespace('/api/v1', 'pods');
    const status = listAt(pod, 'status', 'containerStatuses').find((each) => at(each, 'name') === 'app');
    const startedAt = Date.parse(String(at(status, 'state', 'running', 'startedAt')));
    if (Number.isNaN(startedAt) || at(status, 'restartCount') !== 0)
      throw new Error(`${this.#program} does not run: ${JSON.stringify(at(status, 'state') ?? status)}`);
    await pause(Math.max(0, startedAt + seconds * 1_000 - Date.now()));
  }
}
