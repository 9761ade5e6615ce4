import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { type Answer, ask } from '../../play/app/conversation.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { Kube } from './kube.ts';
import type { Scene } from './stories.ts';

const BUSYBOX = 'localhost/busybox:1';
const CHANNEL = 'C0SHOP';

const policyFor = (context: string, namespaces: readonly string[]): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity:
  mode: impersonate
  user: "slack:{userId}"
  groups: ["kdebug:{channelId}"]
approvers:
  sre: { usergroup: S0SRE }
images:
  debian: { image: "${BUSYBOX}", class: observe, command: allowed }
  debugger: { image: "${BUSYBOX}", class: elevated, command: allowed }
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
limits: { startDeadline: 60s, runsPerUserPerMinute: 60, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

/** The end-to-end tests of issue 4: two layers of rights, approval with buttons, the cluster asked as the person. */
export function tellGovernance(open: () => Promise<Scene>, close: () => Promise<void>): void {
  let bed: Bed;
  let kube: Kube;
  let shop: string;
  let closed: string;
  const sleeper = { name: 'app', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'] };
  const spec = { terminationGracePeriodSeconds: 1, containers: [sleeper] };

  beforeAll(async () => {
    const scene = await open();
    kube = new Kube(scene.kubeconfig);
    [shop, closed] = await Promise.all([kube.namespace('kdebug-gov'), kube.namespace('kdebug-closed')]);
    await kube.letGroupDebug(shop, `kdebug:${CHANNEL}`);
    bed = await startPatientBed({
      kubeconfig: scene.kubeconfig,
      policy: policyFor(scene.context, [shop, closed]),
      transport: scene.transport,
    });
    await Promise.all([kube.pod(shop, 'web-0', spec), kube.pod(closed, 'web-0', spec)]);
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
    await close();
  });

  const say = (words: string, user = 'U0ROY'): Promise<Answer> => ask(bed.slack, { user, channel: CHANNEL, words });

  /** The newest card with buttons, once it stands. */
  const card = (before: number) => bed.slack.until(() => bed.slack.messages(CHANNEL)[before]);

  const press = (user: string, actionId: string, ts: string) =>
    bed.slack.deliver.action({ user, channel: CHANNEL, ts, actionId });

  async function privately(user: string, before: number): Promise<string> {
    const message = await bed.slack.until(() => bed.slack.ephemerals(user)[before]);
    return JSON.stringify(message.blocks);
  }

  it('lets a person through whose channel group has the right by a RoleBinding', async () => {
    expect(await say(`web-0 -n ${shop} --image=debian -- echo as myself`)).toMatchObject({
      kind: 'thread',
      result: expect.stringContaining('as myself'),
    });
  });

  it('denies a person whom the cluster does not allow it, naming the right that lacks', async () => {
    const answer = await say(`web-0 -n ${closed} --image=debian -- echo never`);
    expect(answer).toMatchObject({ kind: 'private' });
    expect(JSON.stringify(answer)).toContain('slack:U0ROY may not patch pods/ephemeralcontainers');
    expect((await kube.read(closed, 'web-0')).spec?.ephemeralContainers).toBeUndefined();
  });

  it('runs what one person asks for and another approves, as the person who asked', async () => {
    const before = bed.slack.messages(CHANNEL).length;
    const words = `web-0 -n ${shop} --image=debugger --profile=sysadmin --reason=hang -- echo attached`;
    const answer = say(words, 'U0THURSTON');
    const { ts } = await card(before);
    const privateBefore = bed.slack.ephemerals('U0THURSTON').length;
    await press('U0THURSTON', 'approve', ts);
    // Answered like a command of Thurston's own would be; what counts is that it changed nothing.
    expect(await privately('U0THURSTON', privateBefore)).toMatch(/can’t approve your own request/);
    await press('U0GINGER', 'approve', ts);
    expect(await privately('U0GINGER', 0)).toMatch(/not an approver/);
    await press('U0BOB', 'approve', ts);
    await answer.catch(() => undefined);
    const thread = await bed.slack.until(() => bed.slack.thread(CHANNEL, ts)[1]);
    expect(JSON.stringify(thread.blocks)).toContain('attached');
    const [ours] = (await kube.read(shop, 'web-0')).spec?.ephemeralContainers?.slice(0, 1) ?? [];
    expect(ours?.securityContext?.privileged).toBe(true);
    expect(ours?.env).toContainEqual({ name: 'KDEBUG_APPROVERS', value: 'U0BOB' });
  });

  it('voids an approval when another pod has taken the name between request and click', async () => {
    await kube.pod(shop, 'replaced', spec);
    const before = bed.slack.messages(CHANNEL).length;
    const words = `replaced -n ${shop} --image=debugger --profile=sysadmin --reason=hang -- echo never`;
    await bed.slack.deliver.command({ user: 'U0THURSTON', channel: CHANNEL, text: words });
    const { ts } = await card(before);
    await kube.remove(shop, 'replaced');
    await kube.gone(shop, 'replaced');
    await kube.pod(shop, 'replaced', spec);
    const privateBefore = bed.slack.ephemerals('U0BOB').length;
    await press('U0BOB', 'approve', ts);
    expect(await privately('U0BOB', privateBefore)).toMatch(/has changed since the request/);
    expect((await kube.read(shop, 'replaced')).spec?.ephemeralContainers).toBeUndefined();
  });

  it('tells that an older debug container has poisoned a pod, in the words of Pod Security', async () => {
    await kube.pod(shop, 'poisoned', spec);
    await say(`poisoned -n ${shop} --image=debian --profile=general -- true`);
    await kube.enforce(shop, 'baseline');
    try {
      // The namespace's level is known for half a minute; the API server knows it at once.
      const answer = await say(`poisoned -n ${shop} --image=debian --profile=baseline -- true`);
      expect(JSON.stringify(answer)).toContain('violates PodSecurity');
      expect(JSON.stringify(answer)).toContain('SYS_PTRACE');
    } finally {
      await kube.enforce(shop, 'privileged');
    }
  });

  it('rehearses on request: the plan, the rule and the patch, and nothing in the pod', async () => {
    await kube.pod(shop, 'rehearsed', spec);
    const answer = await say(`rehearsed -n ${shop} --image=debian --dry-run -- echo never`);
    expect(answer).toMatchObject({ kind: 'private', text: expect.stringContaining('The API server would accept it.') });
    expect((await kube.read(shop, 'rehearsed')).spec?.ephemeralContainers).toBeUndefined();
  });
}
