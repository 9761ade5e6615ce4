import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { askInThread } from '../../play/app/conversation.ts';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { isJson } from '../../play/slack/api/args.ts';
import type { StoredMessage } from '../../play/slack/index.ts';
import { startPatientBed } from '../support/patient-bed.ts';

const CHANNEL = 'C0SHOP';
const POLICY = `version: 1
clusters:
  test: { context: "local", default: true }
identity: { mode: serviceAccount }
images:
  lines: { image: "localhost/lines:1", class: observe, command: allowed }
  autodiagnose: { image: "localhost/autodiagnose:1", class: observe, timeout: 1m, diagnostic: true }
defaultImage: autodiagnose
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [shop], classes: [observe, intrusive, elevated], profiles: [restricted, baseline] }
limits: { startDeadline: 90s, runsPerUserPerMinute: 100, runsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

let cluster: LocalCluster;
let bed: Bed;

beforeAll(async () => {
  cluster = await startLocalCluster();
  const resources = { limits: { cpu: '500m', memory: '120Mi' }, requests: { cpu: '50m', memory: '64Mi' } };
  const container = { name: 'app', image: 'registry.example.com/shop/web:2.7', workload: 'leak', resources } as const;
  cluster.addPod({ name: 'leaky', namespace: 'shop', containers: [container] });
  // Before its container runs there is nothing to look into.
  await vi.waitFor(() => expect(JSON.stringify(cluster.pod('shop', 'leaky')?.status)).toContain('"running"'), 10_000);
  bed = await startPatientBed({
    kubeconfig: cluster.kubeconfig,
    policy: POLICY,
    slack: { habits: { fileButtons: 'dead' } },
  });
});
afterAll(async () => {
  await bed?.stop();
  await cluster?.stop();
});

const buttonsOf = (message: StoredMessage | undefined): string[] =>
  (message?.blocks ?? [])
    .flatMap(({ type, elements }) => (type === 'actions' && Array.isArray(elements) ? elements.filter(isJson) : []))
    .map(({ action_id: id }) => String(id));

// A result that finds something is no message with a file.
it.each(["leaky --image=lines -- sh -c 'seq 1 5000'"])(
  'of "%s": a button that does nothing on the result with its file works on the card',
  async (words) => {
    const order = { user: 'U0ROY', channel: CHANNEL, words: `-n shop ${words}` };
    const { anchorTs } = await askInThread(bed.slack, order);
    const result = await bed.slack.until(() => bed.slack.thread(CHANNEL, anchorTs).find(({ files }) => files[0]));
    const card = bed.slack.message(CHANNEL, anchorTs);
    expect(buttonsOf(result)).toContain('rerun');
    expect(buttonsOf(card)).toEqual(expect.arrayContaining(buttonsOf(result)));
    const press = (ts: string, actionId: string) =>
      bed.slack.deliver.action({ user: 'U0ROY', channel: CHANNEL, ts, actionId });
    expect((await press(result.ts, 'rerun')).status).toBe(0);
    for (const action of buttonsOf(result)) expect((await press(anchorTs, action)).status).toBe(200);
    const [second] = await bed.slack.until(() => {
      const replies = bed.slack.thread(CHANNEL, anchorTs).filter(({ ts }) => ts > result.ts);
      return replies.length > 0 && replies;
    });
    expect(JSON.stringify(second?.blocks)).toContain('leaky');
    expect(JSON.stringify(bed.slack.ephemerals('U0ROY'))).not.toContain('button_stale');
  },
);
