import { setTimeout as pause } from 'node:timers/promises';
import type { Bed } from '../../play/app/bed.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import type { Scene } from './stories.ts';

const CHANNEL = 'C0SHOP';

const policyFor = (context: string, namespace: string, images: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images: ${images}
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

  static async open(scene: Scene, namespace: string, images = '{}'): Promise<SecondRuns> {
    return new SecondRuns(await startPatientBed({ ...scene, policy: policyFor(scene.context, namespace, images) }));
  }

  textOf(message: StoredMessage): string {
    return describeMessage(this.bed.slack.state, message, { times: false }).join('\n');
  }

  /**
   * Asks as Thurston, approves as Bob; resolves with what they saw. A container in a crash loop runs for a moment now
   * and then, which makes the approval void: then it is asked for again.
   */
  async approved(words: string): Promise<Told> {
    const { slack } = this.bed;
    for (;;) {
      const asked = await this.#asked(words);
      const card = this.textOf(asked);
      const approvedAtMs = await this.#approve(asked);
      const told = await slack.until(
        () => slack.thread(CHANNEL, asked.ts).find((message) => this.#isEnd(message) || this.#isTooEarly(message)),
        120_000,
      );
      if (!this.#isTooEarly(told))
        return { card, result: this.textOf(told), approvedAtMs, toldAtMs: Number(told.ts) * 1000 };
    }
  }

  #isEnd(message: StoredMessage): boolean {
    return this.textOf(message).includes('ran once more');
  }

  async #asked(words: string): Promise<StoredMessage> {
    const { slack } = this.bed;
    for (;;) {
      const before = slack.messages(CHANNEL).length;
      const refusals = slack.ephemerals('U0THURSTON').length;
      await slack.deliver.command({ user: 'U0THURSTON', channel: CHANNEL, text: words });
      const answer = await slack.until(() => {
        const message = slack.messages(CHANNEL)[before];
        const isCard = message && this.textOf(message).includes('once more in');
        const refusal = slack
          .ephemerals('U0THURSTON')
          .slice(refusals)
          .find((each) => this.#isTooEarly(each));
        return isCard ? message : refusal;
      });
      if (!this.#isTooEarly(answer)) return answer;
      await pause(1_000);
    }
  }

  #isTooEarly(message: StoredMessage): boolean {
    return this.textOf(message).includes('needs no second run');
  }

  /** Clicks until nobody is told privately why not. */
  async #approve({ ts }: StoredMessage): Promise<number> {
    const { slack } = this.bed;
    for (;;) {
      const refusals = slack.ephemerals('U0BOB').length;
      const clickedAtMs = Date.now();
      await slack.deliver.action({ user: 'U0BOB', channel: CHANNEL, ts, actionId: 'approve' });
      const answer = await slack.until(() => slack.ephemerals('U0BOB')[refusals] ?? slack.thread(CHANNEL, ts)[0]);
      if (answer.visibleTo === undefined) return clickedAtMs;
      await pause(1_000);
    }
  }
}
