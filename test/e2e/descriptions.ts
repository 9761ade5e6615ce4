import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
defaultImage: debian
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespaces.join(', ')}], classes: [observe, intrusive], profiles: [restricted, baseline] }
      - id: attach
        clusters: [test]
        namespaces: [${namespaces.join(', ')}]
        classes: [elevated]
        profiles: [sysadmin]
        approval: { from: [sre], count: 1, expires: 15m, reason: required }
limits: { startDeadline: 90s, runsPerUserPerMinute: 100 }
`;

/** The end-to-end tests of the verb `describe`: what a person reads of a pod, and what the verb must not reveal. */
export function tellDescriptions(
  open: () => Promise<Scene>,
  close: () => Promise<void>,
  /** The local kubelet starts no init containers. */
  { startsInits = false } = {},
): void {
  let bed: Bed;
  let kube: Kube;
  let scene: Scene;
  let shop: string;
  /** In the policy, but its Roles give the person nothing. */
  let locked: string;
  /** Not in the policy. */
  let vault: string;
  const app = (command: readonly string[], image = BUSYBOX) => ({
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'app', image, imagePullPolicy: 'IfNotPresent', command: [...command] }],
  });

  beforeAll(async () => {
    scene = await open();
    kube = new Kube(scene.kubeconfig);
    shop = await kube.namespace('kdebug-described');
    locked = await kube.namespace('kdebug-locked', 'restricted');
    vault = await kube.namespace('kdebug-hidden');
    await kube.letGroupDebug(shop, `kdebug:${CHANNEL}`);
    bed = await startPatientBed({
      kubeconfig: scene.kubeconfig,
      policy: policyFor(scene.context, [shop, locked]),
      transport: scene.transport,
    });
    await kube.pod(shop, 'web-1', app(['sleep', '3600']));
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
    await close();
  });

  const say = (words: string): Promise<Answer> => ask(bed.slack, { user: 'U0ROY', channel: CHANNEL, words });

  /** Asks again, as the answer says, if a part of it did not come in time: the machine may be busy. */
  async function described(words: string, tries = 3): Promise<string> {
    const answer = await say(`describe ${words}`);
    if (answer.kind !== 'private') throw new Error(`answered in a thread: ${answer.result}`);
    return tries > 1 && answer.text.includes('no answer in time') ? described(words, tries - 1) : answer.text;
  }

  /** The line that says who answers is Slack's own. */
  const linesOf = (text: string): readonly string[] =>
    text
      .split('\n')
      .slice(1)
      .map((line) => line.trim());

  it('says first that nothing is found in a ready pod that logs nothing, then what may be run in it, and adds nothing to it', async () => {
    const text = await described('web-1');
    expect(linesOf(text)[0]).toContain(`${shop}/web-1: Nothing found so far: ready, never restarted`);
    expect(text).toMatch(/app running, ready · no requests or limits|app running, ready/);
    expect(text).toMatch(/debian.*: allowed with baseline, restricted \(rule look\)/);
    expect(text).toContain('any 1 of sre must approve sysadmin (rule attach), with a --reason');
    expect(text).toMatch(/node \S+, ready · Pod Security privileged .* nothing was started/);
    expect((await kube.read(shop, 'web-1')).spec?.ephemeralContainers ?? []).toEqual([]);
    expect(bed.slack.unknown).toEqual([]);
  });

  it('names the debug container of an earlier run, and how it ended', async () => {
    const run = await say('web-1 --image=debian -- echo hello');
    if (run.kind !== 'thread') throw new Error(run.text);
    const text = await described('web-1');
    expect(text).toContain('1 debug container');
    expect(text).toMatch(new RegExp(`${run.run}.* debian by .*: Succeeded, ended .* ago`));
  });

  it('says first that a container restarts, and the next step', async () => {
    await kube.pod(
      shop,
      'crash-0',
      app(['sh', '-c', 'sleep 1; exit 3']),
      (pod) => (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    );
    const [first, second] = linesOf(await described('crash-0'));
    expect(first).toMatch(/crash-0: app exited with code 3, .* ago, restarted \d+ times?; it wrote nothing/);
    expect(second).toMatch(/^[A-Z]/);
    expect(second).not.toContain('kubectl');
  });

  it('says first that an image cannot be had', async () => {
    const waits = (reason: RegExp) => (pod: Awaited<ReturnType<Kube['read']>>) =>
      reason.test(pod.status?.containerStatuses?.[0]?.state?.waiting?.reason ?? '');
    await kube.pod(shop, 'missing-0', app(['sleep', '1'], 'localhost/no-such-image:1'), waits(/ImagePull/));
    const text = await described('missing-0');
    expect(linesOf(text)[0]).toMatch(/missing-0: app cannot start: its image localhost\/no-such-image:1 /);
  });

  it.runIf(startsInits)('says first that an init container fails: the pod’s own wait for it', async () => {
    const { containers, ...spec } = app(['sleep', '3600']);
    const initContainers = containers.map((each) => ({ ...each, name: 'migrate', command: ['sh', '-c', 'exit 7'] }));
    await kube.pod(
      shop,
      'waits-0',
      { ...spec, containers, initContainers },
      ({ status }) => (status?.initContainerStatuses?.[0]?.restartCount ?? 0) > 0,
    );
    const lines = linesOf(await described('waits-0'));
    expect(lines[0]).toMatch(
      /waits-0: the init container migrate exited with code 7, .* ago, restarted \d+ times?; it wrote nothing/,
    );
    expect(lines.some((line) => /migrate \(init\)/.test(line))).toBe(true);
    expect(lines.some((line) => /app waiting: PodInitializing/.test(line))).toBe(true);
  });

  it('says of a pod that ended how it ended, and that nothing can be added to it', async () => {
    const never = { ...app(['sh', '-c', 'exit 4']), restartPolicy: 'Never' };
    await kube.pod(shop, 'job-0', never, ({ status }) => status?.phase === 'Failed');
    const lines = linesOf(await described('job-0'));
    expect(lines[0]).toMatch(/job-0: app exited with code 4, .* ago; it wrote nothing/);
    expect(lines.some((line) => line.startsWith('No debug container can be added:'))).toBe(true);
  });

  it('says that no node can run a pod, and that nothing can be added to it', async () => {
    await kube.pod(
      shop,
      'homeless-0',
      { ...app(['sleep', '3600']), nodeSelector: { disk: 'no-such-disk' } },
      ({ status }) => status?.conditions?.some(({ type }) => type === 'PodScheduled') === true,
    );
    const text = await described('homeless-0');
    expect(linesOf(text)[0]).toContain(
      'homeless-0: no node can run the pod: no node has the label disk=no-such-disk of its node selector',
    );
    expect(text).toContain('No debug container can be added:');
  });

  describe('what the person or the channel may not see', () => {
    beforeAll(async () => {
      await Promise.all(
        [locked, vault].map((namespace) => kube.pod(namespace, 'secret-1', podOf(namespace === locked))),
      );
    });

    const podOf = (isRestricted: boolean) => {
      const spec = app(['sleep', '3600']);
      if (!isRestricted) return spec;
      const securityContext = {
        runAsNonRoot: true,
        runAsUser: 65532,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      };
      return { ...spec, containers: spec.containers.map((container) => ({ ...container, securityContext })) };
    };

    it('looks like a pod that does not exist, in a namespace outside the policy', async () => {
      const [hidden, missing, nowhere] = [
        await described(`secret-1 -n ${vault}`),
        await described(`secret-1 -n ${shop}`),
        await described('secret-1 -n no-such-namespace'),
      ];
      expect(hidden.replaceAll(vault, 'NS')).toBe(missing.replaceAll(shop, 'NS'));
      expect(nowhere.replaceAll('no-such-namespace', 'NS')).toBe(missing.replaceAll(shop, 'NS'));
    });

    it('is refused by the cluster’s own rights alike, whether the pod exists or not', async () => {
      const there = await described(`secret-1 -n ${locked}`);
      expect(there).toContain('slack:U0ROY may not');
      expect(there).not.toContain('running');
      const missing = await described(`secret-2 -n ${locked}`);
      expect(missing).toBe(there);
    });
  });
}
