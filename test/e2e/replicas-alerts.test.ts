import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { hasRedis } from '../adapters/store/redis/redis-server.ts';
import type { BotProcess } from '../support/program/bot-process.ts';
import { type BuiltProgram, buildProgram } from '../support/program/built-program.ts';
import { ProgramScene } from '../support/program/program-scene.ts';

const SECRET = 'the-secret-of-the-alertmanager';
/** Of three workloads: one of them would be looked at once. */
const PODS = ['web-1', 'api-1', 'db-1'];
const POLICY = `version: 1
clusters: { prod: { context: local, default: true } }
identity: { mode: serviceAccount }
images:
  autodiagnose: { image: "localhost/autodiagnose:1", class: observe, diagnostic: true }
defaultImage: autodiagnose
channels:
  C0SHOP:
    rules: [{ id: look, clusters: [prod], namespaces: [shop], classes: [observe], profiles: [restricted, baseline] }]
alerts:
  am: { source: alertmanager, secretEnv: AM_SECRET, channel: C0SHOP }
`;

/** The same for every copy of one alert. */
const STARTED = new Date(Date.now() - 30_000).toISOString();

function notification(pod: string, status: 'firing' | 'resolved' = 'firing'): string {
  const labels = { alertname: 'KubePodNotReady', namespace: 'shop', pod };
  const endsAt = status === 'firing' ? '0001-01-01T00:00:00Z' : new Date().toISOString();
  return JSON.stringify({
    ...{ version: '4', receiver: 'kdebug', status, groupKey: `{}:{pod="${pod}"}`, truncatedAlerts: 0 },
    ...{ commonLabels: labels, commonAnnotations: {}, groupLabels: labels, externalURL: 'http://alertmanager.example' },
    alerts: [{ status, labels, annotations: {}, startsAt: STARTED, endsAt, generatorURL: '', fingerprint: `f-${pod}` }],
  });
}

const send = (bot: BotProcess, body: string): Promise<number> =>
  fetch(`${bot.alertsUrl}/alerts/am`, { method: 'POST', headers: { authorization: `Bearer ${SECRET}` }, body }).then(
    ({ status }) => status,
    () => 0,
  );

describe.skipIf(!hasRedis)('alerts at two replicas', () => {
  let cluster: LocalCluster;
  let program: BuiltProgram;
  let scene: ProgramScene;

  beforeAll(async () => {
    [cluster, program] = await Promise.all([startLocalCluster({ kubeletDelayMs: 0 }), buildProgram()]);
    for (const name of PODS) cluster.addPod({ namespace: 'shop', name });
  });
  afterAll(async () => {
    await cluster?.stop();
    program?.remove();
  });
  beforeEach(async () => {
    const env = { ALERTS_PORT: '0', AM_SECRET: SECRET };
    const slack = { rates: { off: true } };
    scene = await ProgramScene.open({
      program,
      kubeconfig: cluster.kubeconfig,
      policy: POLICY,
      transport: 'socket',
      slack,
      env,
    });
  });
  afterEach(() => scene.close());

  const anchors = () => scene.posts('anchor');

  it('are each told of once, whichever dies and however often they arrive', async () => {
    const [first, second] = [await scene.boot(), await scene.boot()];
    const sent = await Promise.all(PODS.flatMap((pod) => [first, second].map((bot) => send(bot, notification(pod)))));
    expect(sent).toEqual(PODS.flatMap(() => [200, 200]));
    await first.kill();
    for (const pod of PODS) expect(await send(second, notification(pod))).toBe(200);
    await scene.slack.until(() => scene.posts('result').length === PODS.length);
    expect(anchors()).toHaveLength(PODS.length);
    const third = await scene.boot();
    for (const pod of PODS) expect(await send(third, notification(pod))).toBe(200);
    for (const pod of PODS) expect(await send(third, notification(pod, 'resolved'))).toBe(200);
    await scene.slack.until(() => anchors().every((card) => scene.textOf(card).includes('resolved after')));
    expect(anchors()).toHaveLength(PODS.length);
    expect(scene.posts('result')).toHaveLength(PODS.length);
  });

  it('are not acknowledged while the store is away, and lost never', async () => {
    const bot = await scene.boot();
    await scene.redis?.kill();
    const [pod = ''] = PODS;
    expect(await send(bot, notification(pod))).toBe(503);
    expect(anchors()).toEqual([]);
    await scene.redis?.start();
    await expect.poll(() => send(bot, notification(pod)), { interval: 200, timeout: 20_000 }).toBe(200);
    await scene.slack.until(() => scene.posts('result').length === 1);
    expect(anchors()).toHaveLength(1);
  });
});
