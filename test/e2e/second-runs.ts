import { expect } from 'vitest';
import { type Bed, startBed } from '../../play/app/bed.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import type { Scene } from './stories.ts';

const CHANNEL = 'C0SHOP';

const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images: {}
channels:
  ${CHANNEL}:
    rules:
      - id: again
        clusters: [test]
        namespaces: [${namespace}]
        classes: [elevated]
        profiles: [baseline]
        approval: { from: [sre], count: 1, expires: 15m }
limits: { startDeadline: 60s, runsPerUserPerMinute: 60, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

export interface Told {
  /** The card that the approver saw. */
  readonly card: string;
  /** The result in the thread. */
  readonly result: string;
  readonly approvedAtMs: number;
  readonly toldAtMs: number;
}

/** The application with a rule that lets Thurston run programs once more in one namespace, when Bob approves. */
export class SecondRuns {
  readonly channel = CHANNEL;
  readonly bed: Bed;

  private constructor(bed: Bed) {
    this.bed = bed;
  }

  static async open(scene: Scene, namespace: string): Promise<SecondRuns> {
    return new SecondRuns(await startBed({ ...scene, policy: policyFor(scene.context, namespace) }));
  }

  textOf(message: StoredMessage): string {
    return describeMessage(this.bed.slack.state, message, { times: false }).join('\n');
  }

  /** Asks as Thurston, approves as Bob; resolves with what they saw. */
  async approved(words: string): Promise<Told> {
    const { slack } = this.bed;
    const before = slack.messages(CHANNEL).length;
    await slack.deliver.command({ user: 'U0THURSTON', channel: CHANNEL, text: words });
    const asked = await slack.until(() => {
      const message = slack.messages(CHANNEL)[before];
      return message && this.textOf(message).includes('once more in') ? message : undefined;
    }, 60_000);
    const card = this.textOf(asked);
    const approvedAtMs = await this.#approve(asked);
    const told = await slack.until(
      () => slack.thread(CHANNEL, asked.ts).find((message) => this.textOf(message).includes('ran once more')),
      120_000,
    );
    return { card, result: this.textOf(told), approvedAtMs, toldAtMs: Number(told.ts) * 1000 };
  }

  /** A container in a crash loop runs for a moment now and then, and is approved after it. */
  async #approve({ ts }: StoredMessage): Promise<number> {
    const { slack } = this.bed;
    let clickedAtMs = 0;
    const isApproved = async (): Promise<boolean> => {
      const refusals = slack.ephemerals('U0BOB').length;
      clickedAtMs = Date.now();
      await slack.deliver.action({ user: 'U0BOB', channel: CHANNEL, ts, actionId: 'approve' });
      const answer = await slack.until(() => slack.ephemerals('U0BOB')[refusals] ?? slack.thread(CHANNEL, ts)[0]);
      return !this.textOf(answer).includes('needs no second run');
    };
    await expect.poll(isApproved).toBe(true);
    return clickedAtMs;
  }
}
