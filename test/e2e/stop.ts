import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { type Answer, ask } from '../../play/app/conversation.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { itInFull } from '../support/sample.ts';
import { Kube } from './kube.ts';
import type { Scene } from './stories.ts';

const BUSYBOX = 'localhost/busybox:1';
const CHANNEL = 'C0SHOP';

const policyFor = (context: string, namespaces: readonly string[]): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images:
  autodiagnose: { image: "localhost/autodiagnose:1", class: observe, timeout: 1m, diagnostic: true }
  debian: { image: "${BUSYBOX}", class: observe, command: allowed }
  debugger: { image: "${BUSYBOX}", class: elevated, command: allowed }
defaultImage: autodiagnose
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespaces.join(', ')}], classes: [observe, intrusive], profiles: [restricted, baseline, general] }
      - id: attach
        clusters: [test]
        namespaces: [${namespaces.join(', ')}]
        classes: [elevated]
        profiles: [sysadmin]
        approval: { from: [sre], count: 1, expires: 15m, reason: required }
limits: { startDeadline: 60s, runsPerUserPerMinute: 60, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100, ephemeralContainersPerPod: 12 }
`;

/** The end-to-end tests of `stop`: the container really ends, and the thread says who ended it. */
export function tellStops(open: () => Promise<Scene>, close: () => Promise<void>): void {
  let bed: Bed;
  let kube: Kube;
  let shop: string;
  let vault: string;
  const sleeper = { name: 'app', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'] };
  const spec = { terminationGracePeriodSeconds: 1, containers: [sleeper] };
  const restricted = {
    runAsNonRoot: true,
    runAsUser: 1234,
    runAsGroup: 1234,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };

  beforeAll(async () => {
    const scene = await open();
    kube = new Kube(scene.kubeconfig);
    [shop, vault] = await Promise.all([
      kube.namespace('kdebug-stop'),
      kube.namespace('kdebug-stop-vault', 'restricted'),
    ]);
    bed = await startPatientBed({
      kubeconfig: scene.kubeconfig,
      policy: policyFor(scene.context, [shop, vault]),
      transport: scene.transport,
    });
    await Promise.all([
      kube.pod(shop, 'web-0', spec),
      kube.pod(vault, 'web-0', { ...spec, containers: [{ ...sleeper, securityContext: restricted }] }),
    ]);
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
    await close();
  });

  const textOf = (message: StoredMessage | undefined): string =>
    message ? describeMessage(bed.slack.state, message, { times: false }).join('\n') : '';

  /** Sends a request; resolves with its card once that shows `words`. */
  async function card(request: string, words: string, user = 'U0ROY'): Promise<StoredMessage> {
    const before = bed.slack.messages(CHANNEL).length;
    await bed.slack.deliver.command({ user, channel: CHANNEL, text: request });
    return shown(before, words);
  }

  const shown = (index: number, words: string): Promise<StoredMessage> =>
    bed.slack.until(() => {
      const message = bed.slack.messages(CHANNEL)[index];
      return textOf(message).includes(words) ? message : undefined;
    });

  const idOf = (message: StoredMessage): string => /run ([a-z2-7]{10})/.exec(textOf(message))?.[1] ?? '';

  /** The result, once it says so; Slack shows an edited message in place. */
  const result = (anchor: StoredMessage, words: string): Promise<string> =>
    bed.slack.until(() =>
      bed.slack
        .thread(CHANNEL, anchor.ts)
        .map(textOf)
        .find((text) => text.includes(words)),
    );

  async function stop(id: string, user = 'U0ROY'): Promise<string> {
    const answer: Answer = await ask(bed.slack, { user, channel: CHANNEL, words: `stop ${id}` });
    return answer.kind === 'private' ? answer.text : '';
  }

  const statuses = async (namespace: string, pod: string) =>
    (await kube.read(namespace, pod)).status?.ephemeralContainerStatuses ?? [];

  it('ends a command that would run for long, with its log so far', async () => {
    const anchor = await card(`web-0 -n ${shop} --image=debian -- sh -c 'echo so far; sleep 600'`, 'Running');
    expect(await stop(idOf(anchor))).toContain(`Stopping run ${idOf(anchor)}`);
    const text = await result(anchor, 'stopped it');
    expect(text).toContain('so far');
    const both = (await kube.read(shop, 'web-0')).spec?.ephemeralContainers ?? [];
    const first = both.find(({ env }) => env?.some(({ name }) => name === 'KDEBUG_RUN'));
    const second = both.find(({ env }) => env?.some(({ name }) => name === 'KDEBUG_STOPS'));
    expect(second).toMatchObject({ args: ['stop', idOf(anchor)], targetContainerName: first?.targetContainerName });
    expect(second?.env?.map(({ name }) => name)).not.toContain('KDEBUG_RUN');
    const ended = (await statuses(shop, 'web-0')).find(({ name }) => name === first?.name);
    expect([143, 137]).toContain(ended?.state?.terminated?.exitCode);
    expect(await stop(idOf(anchor))).toContain('already ended');
  });

  itInFull('ends what ignores a polite signal, under Pod Security restricted', async () => {
    const words = `web-0 -n ${vault} --image=debian -- sh -c 'trap "" TERM; echo deaf; sleep 600'`;
    const anchor = await card(words, 'Running');
    await stop(idOf(anchor));
    expect(await result(anchor, 'stopped it')).toContain('deaf');
  });

  it('is a button as well, for an approver of a privileged run too', async () => {
    const request = `web-0 -n ${shop} --image=debugger --profile=sysadmin --reason=hang -- sleep 600`;
    const before = bed.slack.messages(CHANNEL).length;
    const { ts } = await card(request, 'wants to run', 'U0THURSTON');
    const press = (user: string, actionId: string) =>
      bed.slack.deliver.action({ user, channel: CHANNEL, ts, actionId });
    await press('U0BOB', 'approve');
    const anchor = await shown(before, 'Running');
    const privateBefore = bed.slack.ephemerals('U0GINGER').length;
    await press('U0GINGER', 'stop');
    const refused = await bed.slack.until(() => bed.slack.ephemerals('U0GINGER')[privateBefore]);
    expect(textOf(refused)).toContain('Only the requester of this run');
    await press('U0BOB', 'stop');
    expect(await result(anchor, 'stopped it')).toContain('@bob stopped it.');
  });

  itInFull('ends a container that kdebug had given up at its timeout', async () => {
    const anchor = await card(`web-0 -n ${shop} --image=debian --timeout=5s -- sleep 600`, 'Timed out');
    await result(anchor, 'It was still running');
    await stop(idOf(anchor));
    expect(await result(anchor, 'stopped it')).toContain('web-0: stopped');
    expect(bed.slack.thread(CHANNEL, anchor.ts)).toHaveLength(1);
  });

  itInFull('says why it cannot, and that the container goes on', async () => {
    const anchor = await card(`web-0 -n ${shop} --image=debian --no-target -- sleep 60`, 'Running');
    const answer = await stop(idOf(anchor));
    expect(answer).toContain('no target container');
    expect(answer).toContain('It runs until its command exits');
  });
}
