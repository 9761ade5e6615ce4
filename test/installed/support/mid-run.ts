import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tagOf } from '../../../play/app/our-posts.ts';
import { describeMessage, type LocalSlack, type StoredMessage } from '../../../play/slack/index.ts';
import { Kube } from '../../e2e/kube.ts';
import { CLUSTER, kubectl, run, STATE } from './commands.ts';
import type { Installation } from './installation.ts';
import { redisPod } from './redis-pod.ts';

/** What is there while the deeds are done. */
export interface Place {
  readonly installation: Installation;
  readonly slack: LocalSlack;
}

export type Deed =
  | 'kill -9'
  | 'a rollout'
  | 'another policy'
  | 'a wrong policy'
  | 'new tokens in the Secret'
  | 'an API server that is away'
  | 'Redis that does not answer';

const CHANNEL = 'C0SHOP';
const AWAY_MS = 5_000;

const policyFor = (namespace: string, profiles: string): string => `version: 1
clusters: { test: {} }
images:
  lines: { image: "localhost/lines:1", class: observe, command: allowed }
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespace}], classes: [observe, intrusive], profiles: [${profiles}] }
limits: { runsPerUserPerMinute: 100, runsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

const APISERVER = join(CLUSTER, 'apiserver');

const DEEDS: Record<Deed, (place: Place, namespace: string, run: string) => Promise<unknown>> = {
  async 'kill -9'({ installation }, _namespace, run) {
    expect(await installation.killThoseThatSaid(run)).toBeGreaterThan(0);
  },
  'a rollout': ({ installation }) => installation.restart(),
  'another policy': ({ installation }, namespace) =>
    installation.setPolicy(policyFor(namespace, 'restricted, baseline')),
  async 'a wrong policy'({ installation }) {
    const text = installation.policyText;
    await installation.putPolicyText(`${text}nonsense: true\n`, 'nonsense');
    await installation.putPolicyText(text, 'unchanged');
  },
  async 'new tokens in the Secret'({ installation, slack }) {
    Object.assign(slack.state.app, { botToken: `${slack.botToken}2`, appToken: `${slack.appToken}2` });
    await installation.putSecret();
    await installation.restart();
  },
  async 'an API server that is away'() {
    // As in a crash: asked to stop, it first waits a minute for those who watch.
    process.kill(Number(readFileSync(join(STATE, 'kube-apiserver.pid'), 'utf8')), 'SIGKILL');
    await pause(AWAY_MS);
    await run(APISERVER, ['start']);
    while (!(await kubectl(['get', '--raw', '/readyz']).catch(() => undefined))) await pause(200);
  },
  async 'Redis that does not answer'() {
    await redisPod.freeze();
    await pause(AWAY_MS);
    await redisPod.thaw();
  },
};

/** A run that is under way while the deed is done, and is told to its end, once. `then`: what else is told while the bot has its rights there. */
export function tellMidRun(kubeconfig: string, place: () => Place, deeds: readonly Deed[], then: () => void): void {
  describe('what happens in mid-run', () => {
    const kube = new Kube(kubeconfig);
    let namespace: string;
    let told = 0;

    beforeAll(async () => {
      namespace = await kube.namespace('kdebug-ops');
      const app = { name: 'app', image: 'localhost/busybox:1', imagePullPolicy: 'IfNotPresent' };
      const containers = [{ ...app, command: ['sleep', '3600'] }];
      await kube.pod(namespace, 'web-1', { terminationGracePeriodSeconds: 0, containers });
      await place().installation.setPolicy(policyFor(namespace, 'restricted, baseline, general'));
    });

    afterAll(() => kube.cleanUp());

    it('finds all well there: its own doctor says so', async () => {
      expect(await place().installation.doctor()).toContain(' 0 FAIL');
    });

    it.each(deeds)('%s: the run is told to its end, once', async (deed) => {
      const { installation, slack } = place();
      // Another command each time: the same one again is not started again.
      const command = `sh -c 'lines 9 40; sleep 8; lines ${20 + told} 40'`;
      told += 1;
      const story = await MidRun.begin(slack, `web-1 -n ${namespace} --image=lines -- ${command}`);
      await kube.until(namespace, 'web-1', isAnyRunning);
      await DEEDS[deed](place(), namespace, story.run);
      const { result, wrong } = await story.told();
      expect(result).toMatch(/Exit code\s*:?\s*0/);
      expect(wrong).toEqual([]);
      await installation.ready();
    });

    then();
  });
}

/** As the cluster says it: a card may go from its first words to the last ones when many are updated. */
const isAnyRunning = ({ status }: V1Pod): boolean =>
  (status?.ephemeralContainerStatuses ?? []).some(({ state }) => state?.running !== undefined);

/** One run, from its command to its result. */
class MidRun {
  readonly #slack: LocalSlack;
  readonly #anchorTs: string;
  /** Its id. */
  readonly run: string;

  private constructor(slack: LocalSlack, anchor: StoredMessage) {
    this.#slack = slack;
    this.#anchorTs = anchor.ts;
    this.run = tagOf(slack.state, anchor)?.run ?? '';
  }

  /** Resolves when its card is there. */
  static async begin(slack: LocalSlack, words: string): Promise<MidRun> {
    const before = new Set(slack.messages(CHANNEL).map(({ ts }) => ts));
    const { error } = await slack.deliver.command({ user: 'U0ROY', channel: CHANNEL, text: words });
    expect(error).toBeUndefined();
    const anchor = await slack.until(
      () => slack.messages(CHANNEL).find((one) => !before.has(one.ts) && tagOf(slack.state, one)?.kind === 'anchor'),
      30_000,
    );
    return new MidRun(slack, anchor);
  }

  /** Resolves with what its result says, and with all that is not as it should be. */
  async told(): Promise<{ readonly result: string; readonly wrong: readonly string[] }> {
    const slack = this.#slack;
    const anchor = () => slack.message(CHANNEL, this.#anchorTs);
    const results = () =>
      slack.thread(CHANNEL, this.#anchorTs).filter((message) => tagOf(slack.state, message)?.kind === 'result');
    await slack.until(() => results().length > 0 && textOf(slack, anchor()).includes('Succeeded'), 60_000);
    const anchors = slack.messages(CHANNEL).filter((message) => {
      const tag = tagOf(slack.state, message);
      return tag?.kind === 'anchor' && tag.run === this.run;
    });
    const wrong = [
      ...(anchors.length === 1 ? [] : [`${anchors.length} anchors`]),
      ...(results().length === 1 ? [] : [`${results().length} results`]),
      ...slack.unknown.map((name) => `unknown to Slack: ${name}`),
    ];
    return { result: textOf(slack, results()[0]), wrong };
  }
}

const textOf = (slack: LocalSlack, message: StoredMessage | undefined): string =>
  message ? describeMessage(slack.state, message, { times: false }).join('\n') : '';
