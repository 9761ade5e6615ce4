import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../cluster/index.ts';
import { Client, isTerminated } from './client.ts';

let cluster: LocalCluster;
let client: Client;

beforeAll(async () => {
  // A fiftieth of the real kubelet's times.
  cluster = await startLocalCluster({ kubeletDelayMs: 20 });
  client = new Client(cluster);
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

let pods = 0;
async function runningPod(): Promise<string> {
  pods += 1;
  const name = `pod-${pods}`;
  cluster.addPod({ name, containers: [{ name: 'app', image: 'web' }] });
  await client.until(name, 'app', (status) => status.state.running);
  return name;
}

const busybox = (name: string, ...command: string[]) => ({
  name,
  image: 'busybox:1',
  command,
  terminationMessagePolicy: 'FallbackToLogsOnError',
});
const eventsOf = async (pod: string): Promise<string[]> => {
  const { json } = await client.get(`/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=${pod}`);
  return json.items.map((event: { reason: string; message: string }) => `${event.reason} ${event.message}`);
};

describe('a start', () => {
  it('that is short goes straight to its end, with exit code and the log as its message', async () => {
    const pod = await runningPod();
    await client.launch(pod, [busybox('e', 'sh', '-c', 'echo hi; exit 3')]);
    const { state } = await client.until(pod, 'e', isTerminated);
    expect(state.terminated).toMatchObject({ exitCode: 3, reason: 'Error', message: 'hi\n' });
    expect((await client.log(pod, 'e')).text).toBe('hi\n');
  });

  it.each([
    ['a wrong image', { image: 'localhost/none:1' }, 'ErrImagePull'],
    ['a wrong image, a little later', { image: 'localhost/none:1' }, 'ImagePullBackOff'],
    ['an image that may not be pulled', { image: 'localhost/none:1', imagePullPolicy: 'Never' }, 'ErrImageNeverPull'],
    ['a name that is no image', { image: 'Foo Bar' }, 'InvalidImageName'],
    ['root where non-root is wanted', { securityContext: { runAsNonRoot: true } }, 'CreateContainerConfigError'],
    ['a command that is not there', { command: ['/no/such'] }, 'RunContainerError'],
  ])('with %s waits and says why', async (_what, fields, reason) => {
    const pod = await runningPod();
    await client.launch(pod, [{ name: 'e', image: 'busybox:1', ...fields }]);
    const status = await client.until(pod, 'e', ({ state }) => state.waiting?.reason === reason);
    expect(status.state.waiting.message).not.toBe('');
  });

  it('whose command is not there has a last state from 1970 with code 128', async () => {
    const pod = await runningPod();
    await client.launch(pod, [busybox('e', '/no/such')]);
    const { state, lastState } = await client.until(
      pod,
      'e',
      (status) => status.state.waiting?.reason === 'RunContainerError',
    );
    expect(state.waiting.message).toContain('exec: "/no/such": stat /no/such: no such file or directory');
    expect(lastState.terminated).toMatchObject({
      exitCode: 128,
      reason: 'StartError',
      startedAt: '1970-01-01T00:00:00Z',
    });
  });

  it('comes late when the image appears later', async () => {
    const pod = await runningPod();
    const image = `localhost/late-${pod}:1`;
    await client.launch(pod, [{ name: 'e', image, command: ['echo', 'late'] }]);
    await client.until(pod, 'e', ({ state }) => state.waiting?.reason === 'ImagePullBackOff');
    cluster.images.add(image);
    await client.until(pod, 'e', isTerminated);
    expect((await client.log(pod, 'e')).text).toBe('late\n');
  });

  it('waits for a target that is not running, tells it by an event, and happens when the target runs', async () => {
    const pod = await runningPod();
    cluster.setTargetState('default', pod, 'app', 'crash-looping');
    await client.until(pod, 'app', ({ state }) => state.waiting?.reason === 'CrashLoopBackOff');
    await client.launch(pod, [{ ...busybox('e', 'echo', 'joined'), targetContainerName: 'app' }]);
    const { state } = await client.until(pod, 'e', (status) => status.state.waiting?.reason === 'CreateContainerError');
    expect(state.waiting.message).toMatch(/invalid target container: .* is not running - in state CONTAINER_EXITED/);
    expect(
      (await eventsOf(pod)).some((event) => event.startsWith('Failed') && event.includes('invalid target container')),
    ).toBe(true);

    cluster.setTargetState('default', pod, 'app', 'running');
    const ended = await client.until(pod, 'e', isTerminated);
    expect(ended.state.terminated.exitCode).toBe(0);
  });

  it('expands $(NAME) from the environment and turns $$ into $', async () => {
    const pod = await runningPod();
    await client.launch(pod, [{ ...busybox('e', 'echo', '$(A)', '$$(A)', '$(NO)'), env: [{ name: 'A', value: 'b' }] }]);
    await client.until(pod, 'e', isTerminated);
    expect((await client.log(pod, 'e')).text).toBe('b $(A) $(NO)\n');
  });
});

describe('an end', () => {
  it('of the target takes the joined container along: 137, Error, the same second', async () => {
    const pod = await runningPod();
    await client.launch(pod, [{ ...busybox('e', 'sleep', '1000'), targetContainerName: 'app' }]);
    await client.until(pod, 'e', ({ state }) => state.running);
    cluster.setTargetState('default', pod, 'app', 'exited');
    const { state } = await client.until(pod, 'e', isTerminated);
    const target = await client.until(pod, 'app', isTerminated);
    expect(state.terminated).toMatchObject({
      exitCode: 137,
      reason: 'Error',
      finishedAt: target.state.terminated.finishedAt,
    });
  });

  it('by the out-of-memory killer is told as such', async () => {
    const pod = await runningPod();
    await client.launch(pod, [busybox('e', 'sleep', '1000')]);
    await client.until(pod, 'e', ({ state }) => state.running);
    cluster.oomKill('default', pod, 'e');
    const { state } = await client.until(pod, 'e', isTerminated);
    expect(state.terminated).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });

  it('writes the termination file, which goes before the log', async () => {
    const pod = await runningPod();
    await client.launch(pod, [busybox('e', 'sh', '-c', 'echo seen > /dev/termination-log; echo said; exit 1')]);
    const { state } = await client.until(pod, 'e', isTerminated);
    expect(state.terminated.message).toBe('seen\n');
  });

  it('again and again is a crash loop, with the end of the life before', async () => {
    cluster.addPod({
      name: 'crash',
      containers: [{ name: 'app', image: 'busybox', command: ['sh', '-c', 'echo boom; exit 1'] }],
    });
    const status = await client.until('crash', 'app', ({ state }) => state.waiting?.reason === 'CrashLoopBackOff');
    expect(status.restartCount).toBeGreaterThan(0);
    expect(status.lastState.terminated).toMatchObject({ exitCode: 1, reason: 'Error' });
    // While the next life begins, the one before has no log for a moment.
    await expect.poll(async () => (await client.log('crash', 'app', '&previous=true')).text).toBe('boom\n');
  });

  it('of a pod by deletion takes it out of the API, and its log too', async () => {
    const pod = await runningPod();
    cluster.deletePod('default', pod);
    const deleted = await client.get(
      `/api/v1/namespaces/default/pods?watch=true&fieldSelector=metadata.name=${pod}&timeoutSeconds=1`,
    );
    expect(deleted.text).toContain('"type":"DELETED"');
    expect((await client.log(pod, 'app')).status).toBe(404);
  });

  it('of a name is not the end of the next pod with it: the uid is another', async () => {
    const pod = await runningPod();
    const uid = cluster.pod('default', pod)?.metadata.uid;
    cluster.replacePod({ name: pod });
    const { status } = await client.launch(pod, [busybox('e', 'true')], { metadata: { uid } });
    expect(status).toBe(422);
  });
});

it('a node that is down takes the launch and gives no status and no log; when it is back the container starts', async () => {
  cluster.addPod({ name: 'far', nodeName: 'far-node' });
  await client.until('far', 'app', ({ state }) => state.running);
  cluster.nodeDown('far-node');

  const { status } = await client.launch('far', [busybox('e', 'echo', 'back')]);
  const log = await client.log('far', 'app');
  expect(status).toBe(200);
  expect(log.status).toBe(500);
  expect(log.json).not.toHaveProperty('reason');
  expect(log.json.message).toContain('connect: connection refused');
  expect((await client.log('far', 'e')).status).toBe(500);
  expect(cluster.pod('default', 'far')?.status.ephemeralContainerStatuses).toBeUndefined();

  cluster.nodeUp('far-node');
  await client.until('far', 'e', isTerminated);
});

describe('what a container sees of its target', () => {
  const nonRoot = { runAsUser: 65532, runAsGroup: 0, capabilities: { drop: ['ALL'] } };
  const asRoot = {};

  it.each([
    ['root with default capabilities', {}, nonRoot, false],
    ['the same, where the target runs as root', {}, asRoot, true],
    ['root with SYS_PTRACE', { capabilities: { add: ['SYS_PTRACE'] } }, nonRoot, true],
    ['root with NET_ADMIN and NET_RAW', { capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } }, nonRoot, false],
    ['privileged', { privileged: true }, nonRoot, true],
    ['65532:65532', { runAsUser: 65532, runAsGroup: 65532, capabilities: { drop: ['ALL'] } }, nonRoot, false],
    ['uid 1000', { runAsUser: 1000, capabilities: { drop: ['ALL'] } }, nonRoot, false],
    ["the target's own uid and gid", nonRoot, nonRoot, true],
  ])('%s', async (_who, securityContext, target, sees) => {
    pods += 1;
    const name = `seen-${pods}`;
    cluster.addPod({
      name,
      containers: [{ name: 'app', image: target === asRoot ? 'nginx' : 'web', securityContext: target }],
    });
    await client.until(name, 'app', (status) => status.state.running);
    const command = ['sh', '-c', 'cat /proc/1/status; cat /proc/1/root/etc/hostname'];
    await client.launch(name, [
      { name: 'e', image: 'busybox:1', command, targetContainerName: 'app', securityContext },
    ]);
    const { state } = await client.until(name, 'e', isTerminated);
    const { text } = await client.log(name, 'e');
    expect(text).toContain(`Uid:\t${target === asRoot ? 0 : 65532}`);
    expect(text.includes(`${name}\n`)).toBe(sees);
    expect(state.terminated.exitCode).toBe(sees ? 0 : 1);
  });
});
