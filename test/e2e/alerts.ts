import { afterAll, beforeAll, expect, it } from 'vitest';
import { alertNotification, alertPost, notify, postAlert } from '../../play/app/alert.ts';
import { ALERTS_SECRET_ENV, type Bed } from '../../play/app/bed.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { Kube } from './kube.ts';
import type { Scene } from './stories.ts';

const BUSYBOX = 'localhost/busybox:1';
const CHANNEL = 'C0SHOP';
const GUEST = 'U0GUEST';

/** Channels that show nothing of an alert. */
const UNHEARD = [
  { source: 'shared', channel: 'C0OPS', result: 'channel_shared' },
  { source: 'invited', channel: 'C0SECRET', result: 'channel_shared' },
  { source: 'archived', channel: 'C0OLD', result: 'bot_not_in_channel' },
  { source: 'elsewhere', channel: 'C0OTHER', result: 'bot_not_in_channel' },
  { source: 'hidden', channel: 'C0DARK', result: 'bot_not_in_channel' },
] as const;

const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
images:
  debian: { image: "${BUSYBOX}", class: observe, diagnostic: true }
defaultImage: debian
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespace}], classes: [observe, intrusive], profiles: [restricted, baseline] }
${UNHEARD.map(({ channel }) => `  ${channel}: { rules: [] }`).join('\n')}
limits: { startDeadline: 60s, runsPerUserPerMinute: 60, runsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
alerts:
  ledger: { source: alertmanager, secretEnv: ${ALERTS_SECRET_ENV}, channel: ${CHANNEL}, match: { severity: [critical] } }
${UNHEARD.map(({ source, channel }) => `  ${source}: { source: alertmanager, secretEnv: ${ALERTS_SECRET_ENV}, channel: ${channel} }`).join('\n')}
`;

/** An alert fires in Slack, and somebody presses its button. */
export function tellAlerts(open: () => Promise<Scene>, close: () => Promise<void>): void {
  let bed: Bed;
  let kube: Kube;
  let namespace: string;

  beforeAll(async () => {
    const scene = await open();
    kube = new Kube(scene.kubeconfig);
    namespace = await kube.namespace('kdebug-alerts');
    const { kubeconfig, transport } = scene;
    bed = await startPatientBed({
      kubeconfig,
      policy: policyFor(scene.context, namespace),
      transport,
      alerts: 'ledger',
      slack: {
        team: ({ channels }) => {
          Object.assign(channels.C0OPS ?? {}, { is_ext_shared: true });
          Object.assign(channels.C0SECRET ?? {}, { is_pending_ext_shared: true });
        },
      },
    });
    const panics = { name: 'ledger', image: BUSYBOX, command: ['sh', '-c', 'sleep 2; exit 3'] };
    await kube.pod(
      namespace,
      'ledger-0',
      { terminationGracePeriodSeconds: 1, containers: [{ ...panics, imagePullPolicy: 'IfNotPresent' }] },
      (pod) => (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    );
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
    await close();
  });

  const fire = (value: string, more: object = {}) => postAlert(bed.slack, alertPost(CHANNEL, value, more));
  const press = (ts: string, user = 'U0ROY') =>
    bed.slack.deliver.attachment({ user, channel: CHANNEL, ts, label: 'Diagnose' });
  const privately = (user: string, before: number) => bed.slack.until(() => bed.slack.ephemerals(user)[before]);

  it('the button brings the cause into the thread of the alert, and leaves the alert as it is', async () => {
    const ts = await fire(`test/${namespace}/ledger-0`);
    const before = JSON.stringify(bed.slack.message(CHANNEL, ts)?.attachments);
    await press(ts);
    const said = await bed.slack.until(() => {
      const replies = JSON.stringify(bed.slack.thread(CHANNEL, ts).map(({ text, blocks }) => [text, blocks]));
      return /ledger exited with code 3/.test(replies) && replies;
    });
    expect(said).toContain('roy');
    expect(JSON.stringify(bed.slack.message(CHANNEL, ts)?.attachments)).toBe(before);
  });

  it('an alert about several pods opens the form, with its namespace', async () => {
    const ts = await fire(`test/${namespace}/`, { text: 'Pods of ledger crash' });
    await press(ts);
    const view = await bed.slack.until(() => {
      const found = bed.slack.views('U0ROY')[0];
      return found !== undefined && JSON.stringify(found.view).includes(namespace) && found;
    });
    expect(JSON.stringify(view.view)).toContain('Type to search');
    view.open = false;
  });

  it('a button that says nothing of a pod is answered privately, with what to write', async () => {
    const before = bed.slack.ephemerals('U0ROY').length;
    await press(await fire('{{ .CommonLabels.pod }}'));
    expect(JSON.stringify(await privately('U0ROY', before))).toContain('CLUSTER/NAMESPACE/POD');
  });

  it('a guest is refused', async () => {
    const before = bed.slack.ephemerals(GUEST).length;
    const ts = await fire(`test/${namespace}/ledger-0`);
    await press(ts, GUEST);
    expect(JSON.stringify(await privately(GUEST, before))).toContain('person_is_guest');
    expect(bed.slack.thread(CHANNEL, ts)).toEqual([]);
  });

  const tell = (status: 'firing' | 'resolved', { severity = 'critical', secret = bed.alerts?.secret ?? '' } = {}) =>
    notify(
      { url: bed.alerts?.url ?? '', secret },
      alertNotification({ namespace, pod: 'ledger-0', status, startsAt: STARTED, severity }),
    );
  const cards = () =>
    bed.slack
      .messages(CHANNEL)
      .filter(({ blocks }) => JSON.stringify(blocks ?? []).includes('alert source ledger'))
      .map(({ ts, blocks }) => ({ ts, words: JSON.stringify(blocks) }));

  it('a webhook brings the cause onto a card of its own, without a click', async () => {
    expect(await tell('firing', { secret: 'another secret altogether' })).toBe(401);
    expect(await tell('firing')).toBe(200);
    const card = await bed.slack.until(() => cards().find(({ words }) => /ledger exited with code 3/.test(words)));
    expect(card.words).toMatch(/KubePodCrashLooping[\s\S]*critical/);
    expect(await tell('firing')).toBe(200);
    expect(cards()).toHaveLength(1);
    expect(await tell('resolved')).toBe(200);
    await bed.slack.until(() => cards().some(({ words }) => words.includes('resolved after')));
    const replies = await bed.slack.until(() => {
      const said = JSON.stringify(bed.slack.thread(CHANNEL, card.ts).map(({ blocks }) => blocks));
      return said.includes(' resolved after ') && said;
    });
    expect(replies).toMatch(/At the time: ledger exited with code 3/);
  });

  it.each(UNHEARD)(
    'an alert for the $source channel is refused, and nothing is said there',
    async ({ source, channel, result }) => {
      const { url = '', secret = '' } = bed.alerts ?? {};
      const before = bed.slack.messages(channel).length;
      for (const status of ['firing', 'resolved'] as const) {
        const body = alertNotification({ namespace, pod: 'ledger-0', status, startsAt: STARTED });
        const answer = await fetch(url.replace('ledger', source), {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}` },
          body: JSON.stringify(body),
        });
        expect([answer.status, await answer.json()]).toEqual([503, { result }]);
      }
      expect(bed.slack.messages(channel)).toHaveLength(before);
      expect(JSON.stringify(bed.slack.requests())).not.toContain('"alert:');
    },
  );

  it('an alert that does not match the policy is nobody’s business', async () => {
    const before = bed.slack.messages(CHANNEL).length;
    expect(await tell('firing', { severity: 'warning' })).toBe(200);
    expect(bed.slack.messages(CHANNEL)).toHaveLength(before);
  });
}

const STARTED = new Date(Date.now() - 60_000).toISOString();
