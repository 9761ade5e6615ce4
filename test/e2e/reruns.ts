import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { type Answer, ask, askInThread, type ThreadAnswer } from '../../play/app/conversation.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { itInFull } from '../support/sample.ts';
import { Kube } from './kube.ts';
import type { Scene } from './stories.ts';

const BUSYBOX = 'localhost/busybox:1';
const CHANNEL = 'C0SHOP';

const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images:
  debian: { image: "${BUSYBOX}", class: observe, command: allowed }
  debugger: { image: "${BUSYBOX}", class: elevated, command: allowed }
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespace}], classes: [observe, intrusive], profiles: [restricted, baseline, general] }
      - id: attach
        clusters: [test]
        namespaces: [${namespace}]
        classes: [elevated]
        profiles: [sysadmin]
        approval: { from: [sre], count: 1, expires: 15m, reason: required }
limits: { startDeadline: 60s, runsPerUserPerMinute: 60, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

/** What people do with a run that has ended: run it again, read its log, look closer. */
export function tellReruns(open: () => Promise<Scene>, close: () => Promise<void>): void {
  let bed: Bed;
  let kube: Kube;
  let namespace: string;

  beforeAll(async () => {
    const scene = await open();
    kube = new Kube(scene.kubeconfig);
    namespace = await kube.namespace('kdebug-rerun');
    bed = await startPatientBed({
      kubeconfig: scene.kubeconfig,
      policy: policyFor(scene.context, namespace),
      transport: scene.transport,
    });
    const sleeper = { name: 'app', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'] };
    await kube.pod(namespace, 'web-0', { terminationGracePeriodSeconds: 1, containers: [sleeper] });
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
    await close();
  });

  const say = (words: string, user = 'U0ROY'): Promise<Answer> => ask(bed.slack, { user, channel: CHANNEL, words });

  const inThread = (words: string): Promise<ThreadAnswer> =>
    askInThread(bed.slack, { user: 'U0ROY', channel: CHANNEL, words: `web-0 -n ${namespace} --image=debian ${words}` });

  const press = (actionId: string, ts: string, user: string) =>
    bed.slack.deliver.action({ user, channel: CHANNEL, ts, actionId });

  const containers = async () => (await kube.read(namespace, 'web-0')).spec?.ephemeralContainers ?? [];

  const requesters = async () =>
    (await containers()).map(({ env }) => env?.find(({ name }) => name === 'KDEBUG_REQUESTER')?.value);

  /** The blocks of the window that opened for a person, which is then closed. */
  async function page(user: string): Promise<string> {
    const view = await bed.slack.until(() => bed.slack.views(user)[0]);
    view.open = false;
    return JSON.stringify(view.view);
  }

  const privately = async (user: string, before: number): Promise<string> =>
    JSON.stringify((await bed.slack.until(() => bed.slack.ephemerals(user)[before])).blocks);

  /** What stands in a run's thread, once it has so many messages. */
  const replies = (ts: string, count: number) =>
    bed.slack.until(() => {
      const all = bed.slack.thread(CHANNEL, ts);
      return all.length >= count && JSON.stringify(all.map(({ blocks }) => blocks));
    });

  it('Run again runs the same, for whoever clicks and in the same thread', async () => {
    const { anchorTs } = await inThread('-- echo once and again');
    const before = (await containers()).length;
    await press('rerun', anchorTs, 'U0GINGER');
    // The first result, the second card, the second result.
    expect((await replies(anchorTs, 3)).split('once and again').length).toBeGreaterThan(2);
    expect(await containers()).toHaveLength(before + 1);
    expect(await requesters()).toContain('U0GINGER');
    expect(new Set((await containers()).map(({ command }) => JSON.stringify(command))).size).toBe(1);
  });

  itInFull('a second click starts nothing while the first one’s run is open', async () => {
    const { anchorTs } = await inThread('-- sh -c "sleep 4; echo slow"');
    const before = (await containers()).length;
    const said = bed.slack.ephemerals('U0ROY').length;
    await press('rerun', anchorTs, 'U0ROY');
    await press('rerun', anchorTs, 'U0ROY');
    expect(await privately('U0ROY', said)).toMatch(/already/);
    await replies(anchorTs, 3);
    expect(await containers()).toHaveLength(before + 1);
  });

  itInFull('rerun ID does the same by a typed command, and says so where there is no such run', async () => {
    const { anchorTs, run } = await inThread('-- echo typed');
    await bed.slack.deliver.command({ user: 'U0GINGER', channel: CHANNEL, text: `rerun ${run}` });
    expect(await replies(anchorTs, 3)).toContain('typed');
    expect(await say('rerun zzzzzzzzzz')).toMatchObject({
      kind: 'private',
      text: expect.stringMatching(/No such run/),
    });
  });

  it('offers the result of the same run before it adds a second container', async () => {
    await inThread('-- echo the same');
    const before = (await containers()).length;
    const posts = bed.slack.messages(CHANNEL).length;
    const said = bed.slack.ephemerals('U0GINGER').length;
    const answer = await say(`web-0 -n ${namespace} --image=debian -- echo the same`, 'U0GINGER');
    expect(answer).toMatchObject({
      kind: 'private',
      text: expect.stringMatching(/same run[\s\S]*nothing was started/),
    });
    expect(await containers()).toHaveLength(before);
    const offer = bed.slack.ephemerals('U0GINGER')[said];
    await press('run-anyway', offer?.ts ?? '', 'U0GINGER');
    // The request that was typed, so it answers where it was typed and not in the thread of the first run.
    await expect.poll(() => bed.slack.messages(CHANNEL).length).toBeGreaterThan(posts);
    await expect.poll(async () => (await containers()).length).toBe(before + 1);
  });

  it('shows log, details and command to whoever asks, alone', async () => {
    const { anchorTs } = await inThread('-- echo a line to read');
    const posts = bed.slack.messages(CHANNEL).length;
    await press('logs', anchorTs, 'U0GINGER');
    expect(await page('U0GINGER')).toContain('a line to read');
    await press('details', anchorTs, 'U0GINGER');
    const { metadata } = await kube.read(namespace, 'web-0');
    const details = await page('U0GINGER');
    expect(details).toContain(metadata?.uid);
    expect(details).toMatch(/sha256:/);
    const result = bed.slack.thread(CHANNEL, anchorTs)[0]?.ts ?? '';
    const said = bed.slack.ephemerals('U0GINGER').length;
    await press('copy-command', result, 'U0GINGER');
    expect(await privately('U0GINGER', said)).toContain(
      `/kdebug web-0 -n ${namespace} --image=debian -- echo a line to read`,
    );
    expect(bed.slack.messages(CHANNEL)).toHaveLength(posts);
  });

  it('Ask for it sends a refused request again, with the reason that it lacked', async () => {
    const said = bed.slack.ephemerals('U0THURSTON').length;
    const words = `web-0 -n ${namespace} --image=debugger --profile=sysadmin -- echo attached`;
    expect(await say(words, 'U0THURSTON')).toMatchObject({ kind: 'private' });
    const posts = bed.slack.messages(CHANNEL).length;
    await press('ask-for-it', bed.slack.ephemerals('U0THURSTON')[said]?.ts ?? '', 'U0THURSTON');
    const { id: viewId } = await bed.slack.until(() => bed.slack.views('U0THURSTON')[0]);
    const reason = { type: 'plain_text_input', value: 'checkout hangs' };
    await bed.slack.deliver.viewSubmission({ user: 'U0THURSTON', viewId, values: { reason: { reason } } });
    const card = await bed.slack.until(() => bed.slack.messages(CHANNEL)[posts]);
    expect(JSON.stringify(card.blocks)).toContain('checkout hangs');
    await press('approve', card.ts, 'U0BOB');
    expect(await replies(card.ts, 2)).toContain('attached');
  });
}
