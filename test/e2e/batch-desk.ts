import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { itInFull } from '../support/sample.ts';
import { Kube } from './kube.ts';
import type { Scene } from './stories.ts';

const CHANNEL = 'C0SHOP';
/** What the proposal's first story runs. */
const HELLOWORLD = 'reg.docker.alibaba-inc.com/zhoushua/helloworld:v1.1';

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/ephemeraljob/${name}.yaml`, import.meta.url), 'utf8');

const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images:
  busybox: { image: "busybox:latest", class: observe, command: allowed }
  tool: { image: "localhost/busybox:1", class: observe, command: allowed }
  debugger: { image: "localhost/busybox:1", class: elevated, command: allowed }
channels:
  ${CHANNEL}:
    rules:
      - id: look
        clusters: [test]
        namespaces: [${namespace}]
        classes: [observe, intrusive]
        profiles: [restricted, baseline, general]
        batch: { maxPods: 50, maxParallelism: 4 }
      - id: attach
        clusters: [test]
        namespaces: [${namespace}]
        classes: [elevated]
        profiles: [sysadmin]
        approval: { from: [sre], count: 1, expires: 15m }
        batch: { maxPods: 50, maxParallelism: 4 }
limits: { startDeadline: 60s, runsPerUserPerMinute: 100, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100, ephemeralContainersPerPod: 40 }
`;

/** A field of the metadata that kdebug puts on its posts. */
function tagOf({ metadata }: StoredMessage, field: string): string {
  const payload = metadata?.event_payload;
  return typeof payload === 'object' && payload !== null ? String(Reflect.get(payload, field) ?? '') : '';
}

/** Each half has a Slack of its own: Slack takes only so many updates a minute. */
type Half = 'examples' | 'steering';

/** EphemeralJob's own examples, or people who steer a batch: through real payloads of Slack. */
export function tellBatchDesk(open: () => Promise<Scene>, close: () => Promise<void>, half: Half): void {
  let bed: Bed;
  let kube: Kube;
  let shop: string;
  /** Batches that a test began, and ends whatever happens. */
  const begun: string[] = [];

  const pod = (name: string, labels: Record<string, string>, command?: readonly string[]) =>
    kube.pod(
      shop,
      { name, labels },
      {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: labels.app ?? 'nginx',
            image: HELLOWORLD,
            imagePullPolicy: 'IfNotPresent',
            ...(command && { command: [...command] }),
          },
        ],
      },
    );

  beforeAll(async () => {
    const scene = await open();
    kube = new Kube(scene.kubeconfig);
    shop = await kube.namespace('kdebug-desk');
    bed = await startPatientBed({
      kubeconfig: scene.kubeconfig,
      policy: policyFor(scene.context, shop),
      transport: scene.transport,
    });
    const app = { app: 'helloworld' };
    await Promise.all([
      pod('helloworld-865cd8865b-nl8lq', app),
      pod('helloworld-865cd8865b-xmtrv', app),
      pod('helloworld-no-work-6cc445bc7-d967c', app, ['sleep', '99999']),
      pod('helloworld-no-work-6cc445bc7-t286v', app, ['sleep', '99999']),
      pod('nginx', { env: 'test' }),
    ]);
  });

  afterEach(async () => {
    for (const id of begun.splice(0)) await say(`batch ${id} cancel`);
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
    await close();
  });

  const wordsOf = (message: StoredMessage): string =>
    describeMessage(bed.slack.state, message, { times: false }).join('\n');

  /** Types a command; resolves with the private answer that rides on the acknowledgement. */
  async function say(text: string, user = 'U0ROY'): Promise<string> {
    const { error, body } = await bed.slack.deliver.command({ user, channel: CHANNEL, text });
    if (error !== undefined) throw new Error(`Slack saw ${error}: ${text}`);
    return JSON.stringify(body);
  }

  /** In the channel, or below the message whose shortcut began the batch. */
  const anchors = (): readonly StoredMessage[] =>
    [...bed.slack.state.channelMessages(CHANNEL).values()].filter((message) => tagOf(message, 'kind') === 'anchor');

  /** Begins a batch by `act`; resolves with its id and its dashboard once that is there. */
  async function begin(act: () => Promise<unknown>) {
    const before = anchors().length;
    await act();
    const anchor = await bed.slack.until(() => anchors()[before]);
    const { ts } = anchor;
    const id = tagOf(anchor, 'run') || tagOf(anchor, 'batch');
    begun.push(id);
    const dashboard = (): string => {
      const message = anchors().find((one) => one.ts === ts);
      return message ? wordsOf(message) : '';
    };
    /** The dashboard, once all of it is there at the same time: each edit may carry one of the words without the others. */
    const shows = (...words: readonly RegExp[]): Promise<string> =>
      bed.slack.until(() => {
        const said = dashboard();
        return words.every((one) => one.test(said)) ? said : undefined;
      });
    const press = (actionId: string, user = 'U0ROY') =>
      bed.slack.deliver.action({ user, channel: CHANNEL, ts, actionId });
    return { id, ts, dashboard, shows, press };
  }

  /** The next private word to somebody. */
  async function privately(user: string, act: () => Promise<unknown>): Promise<string> {
    const before = bed.slack.ephemerals(user).length;
    await act();
    const message = await bed.slack.until(() => bed.slack.ephemerals(user)[before]);
    return JSON.stringify(message.blocks);
  }

  /** The next form that opens for somebody. */
  async function form(user: string, act: () => Promise<unknown>) {
    const before = new Set(bed.slack.views(user).map(({ id }) => id));
    await act();
    return bed.slack.until(() => bed.slack.views(user).find(({ id }) => !before.has(id)));
  }

  const fields = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([id, value]) => [id, { [id]: { type: 'plain_text_input', value } }]),
    );

  /** What the first line of an ended batch counts: only what there is. */
  const endOf = (succeed: number, failed: number): string =>
    [
      ...(succeed > 0 ? [`${failed === 0 ? 'all runs' : `${succeed} run${succeed === 1 ? '' : 's'}`} succeeded`] : []),
      ...(failed > 0 ? [`${succeed === 0 ? 'all runs' : failed} failed`] : []),
    ].join(', ');
  /** The proposal's columns; those of pods that still have to end are left out when none has. */
  const columns = (match: number, succeed: number, failed: number, running: number, waiting: number): RegExp => {
    if (running + waiting === 0) return new RegExp(`${endOf(succeed, failed)}[\\s\\S]*\\b${match} pods? matched`);
    const open = `${running} running[\\s\\S]*\\b${waiting} waiting[\\s\\S]*\\b`;
    return new RegExp(`\\b${succeed} succeeded[\\s\\S]*\\b${failed} failed[\\s\\S]*\\b${open}${match} pods? matched`);
  };

  const sleeping = (more = ''): string => `-l app=helloworld --image=tool --parallelism=1 ${more} -- sleep 600`;

  if (half === 'examples') {
    describe('the examples of the proposal, verbatim', () => {
      it('helloworld, typed after the command: 4 2 2 0 0', async () => {
        const batch = await begin(() => say(`apply\n\`\`\`\n${fixture('hello-world')}\`\`\``));
        await batch.shows(columns(4, 2, 2, 0, 0));
        const { ts } = batch;
        const result = await bed.slack.until(() => bed.slack.thread(CHANNEL, ts)[0]);
        expect(wordsOf(result)).toMatch(/In 2 pods the run failed, exit code 1/);
      });

      it('nginx, from the code block of a message: 1 0 0 1 0', async () => {
        const text = `please run\n\`\`\`\n${fixture('nginx')}\`\`\``;
        const { ts } = bed.slack.deliver.say({ user: 'U0ROY', channel: CHANNEL, text });
        const view = await form('U0ROY', () =>
          bed.slack.deliver.shortcut({ user: 'U0ROY', channel: CHANNEL, ts, callbackId: 'apply-job' }),
        );
        const values = fields({ yaml: fixture('nginx'), namespace: shop });
        const batch = await begin(() => bed.slack.deliver.viewSubmission({ user: 'U0ROY', viewId: view.id, values }));
        await batch.shows(columns(1, 0, 0, 1, 0), /nginx-ephemeral-job \(/);
      });

      it('helloworld, from an uploaded file: the form has it', async () => {
        const shared = await bed.slack.share({
          user: 'U0ROY',
          channel: CHANNEL,
          name: 'job.yaml',
          content: fixture('definition'),
        });
        const view = await form('U0ROY', () =>
          bed.slack.deliver.shortcut({ user: 'U0ROY', channel: CHANNEL, ts: shared.ts, callbackId: 'apply-job' }),
        );
        expect(JSON.stringify(view.view)).toContain('helloworld-ec');
        const values = fields({ yaml: fixture('definition') });
        const batch = await begin(() => bed.slack.deliver.viewSubmission({ user: 'U0ROY', viewId: view.id, values }));
        await batch.shows(columns(4, 2, 2, 0, 0));
      });

      it('a template with several containers runs them all, and a pod fails if any of them fails', async () => {
        const second = "    - {name: second, image: tool, command: ['true'], targetContainerName: helloworld}\n";
        const batch = await begin(() => say(`apply\n${fixture('hello-world')}${second}`));
        await batch.shows(columns(4, 2, 2, 0, 0), /busybox, tool/);
        const pod = await kube.read(shop, 'helloworld-865cd8865b-nl8lq');
        const names = (pod.spec?.ephemeralContainers ?? []).filter(({ env = [] }) =>
          env.some(({ name, value }) => name === 'KDEBUG_BATCH' && value === batch.id),
        );
        expect(names).toHaveLength(2);
      });

      it('stays open in the form with line and column when a field is unknown', async () => {
        const view = await form('U0ROY', () => say('apply'));
        const wrong = fixture('nginx').replace('parallelism: 1', 'paralelism: 1');
        const { body } = await bed.slack.deliver.viewSubmission({
          user: 'U0ROY',
          viewId: view.id,
          values: fields({ yaml: wrong }),
        });
        expect(body).toMatchObject({
          response_action: 'errors',
          errors: { yaml: '11:3 spec.paralelism is not a field here; did you mean parallelism?' },
        });
      });
    });
    return;
  }

  describe('a batch is steered', () => {
    it('by buttons: pause, resume, size and cancel; an outsider is refused privately', async () => {
      const batch = await begin(() => say(sleeping()));
      await batch.shows(columns(4, 0, 0, 1, 3));
      expect(await privately('U0JONAS', () => batch.press('pause', 'U0JONAS'))).toMatch(
        /only the requester of this batch/i,
      );
      await batch.press('pause');
      await batch.shows(/Paused by/);
      await batch.press('resume');
      await batch.shows(/^(?![\s\S]*Paused)[\s\S]*1 running/);
      const view = await form('U0ROY', () => batch.press('resize'));
      const values = fields({ parallelism: '3' });
      await bed.slack.deliver.viewSubmission({ user: 'U0ROY', viewId: view.id, values });
      await batch.shows(columns(4, 0, 0, 3, 1));
      await batch.press('cancel');
      await batch.shows(/Cancelled by/);
    });

    itInFull('by commands, and not beyond the rule', async () => {
      const batch = await begin(() => say(sleeping()));
      await batch.shows(columns(4, 0, 0, 1, 3));
      expect(await say(`batch ${batch.id}`, 'U0JONAS')).toContain('4 pods matched');
      expect(await say(`batch ${batch.id} pause`, 'U0JONAS')).toMatch(/only the requester of this batch/i);
      expect(await say(`batch ${batch.id} pause`)).toContain('is paused');
      expect(await say(`batch ${batch.id} --parallelism=5`)).toMatch(/too many pods in parallel/i);
      expect(await say(`batch ${batch.id} --parallelism=2 --replicas=3`)).toContain('has its new size');
      expect(await say(`batch ${batch.id} resume`)).toContain('continues');
      await batch.shows(columns(4, 0, 0, 2, 1));
      expect(await say('list')).toContain('Running, 0 of 3 runs succeeded');
      expect(await say(`batch ${batch.id} cancel`)).toContain('is cancelled');
      expect(await say(`batch ${batch.id} cancel`)).toMatch(/not possible in the batch/);
    });

    it('a job that is paused starts when it is resumed', async () => {
      const paused = fixture('hello-world').replace('replicas: 4', 'replicas: 2\n  paused: true');
      const batch = await begin(() => say(`apply\n${paused}`));
      await batch.shows(/Paused by/);
      await batch.shows(columns(4, 0, 0, 0, 2), /2 of 4 skipped: 2 beyond --replicas/);
      await batch.press('resume');
      // Which two pods these are depends on their ages, and so on how busy the machine was; two of the four fail.
      await batch.shows(/(?:all runs|1 run) (?:succeeded|failed)[\s\S]*\b4 pods matched/);
    });

    itInFull('its canary waits for Continue', async () => {
      const batch = await begin(() => say('-l app=helloworld --image=tool --canary --parallelism=4 -- true'));
      await batch.shows(columns(4, 1, 0, 0, 3), /Canary finished: review it/);
      expect(await privately('U0JONAS', () => batch.press('continue', 'U0JONAS'))).toMatch(
        /only the requester of this batch/i,
      );
      await batch.press('continue');
      await batch.shows(columns(4, 4, 0, 0, 0));
    });
  });

  it('runs the pods that failed again, once', async () => {
    const batch = await begin(() => say('-l app=helloworld --image=tool --parallelism=4 -- pidof helloworld'));
    await batch.shows(columns(4, 2, 2, 0, 0));
    const again = await begin(() => batch.press('rerun-failed'));
    await again.shows(columns(2, 0, 2, 0, 0));
    expect(await privately('U0ROY', () => batch.press('rerun-failed'))).toMatch(/already used this button/);
  });

  it('exports what, applied, is the same batch again', async () => {
    const batch = await begin(() =>
      say('-l app=helloworld --image=tool --parallelism=4 --ttl=30m -- pidof helloworld'),
    );
    await batch.shows(columns(4, 2, 2, 0, 0));
    const exported = await bed.slack.deliver.command({ user: 'U0ROY', channel: CHANNEL, text: `export ${batch.id}` });
    const yaml = /apiVersion: [\s\S]*?(?=\\n"|"\})/.exec(JSON.stringify(exported.body))?.[0] ?? '';
    const typed: unknown = JSON.parse(`"${yaml}"`);
    const again = await begin(() => say(`apply\n${String(typed)}`));
    await again.shows(columns(4, 2, 2, 0, 0), new RegExp(`kdebug-${batch.id} `));
  });

  // The last one: it leaves a privileged container running, and whatever can reach that is elevated from then on.
  it('the approver of its rule may pause it, and take back nothing that the requester did not ask for', async () => {
    const words = '-l app=helloworld --image=debugger --profile=sysadmin --reason=look -- sleep 600';
    const batch = await begin(() => say(words));
    await batch.press('approve', 'U0BOB');
    await batch.shows(columns(4, 0, 0, 1, 3));
    await batch.press('pause', 'U0BOB');
    await batch.shows(/Paused by/);
    expect(await say(`batch ${batch.id} --parallelism=2`)).toMatch(/more than the approvers approved/);
  });
}
