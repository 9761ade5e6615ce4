import type { LocalCluster } from '../../../play/cluster/index.ts';
import { Tally } from './check.ts';
import type { CrashPoint } from './effects.ts';
import { type ServerReplica, ServerScene } from './server-scene.ts';

/** What people do on the real servers, and what is to stand there in the end. */
export interface ServerStory {
  readonly name: string;
  readonly words: string;
  readonly user: string;
  readonly click?: { readonly user: string; readonly action: string };
  readonly anchor: string;
  readonly result?: string;
  readonly files: number;
  readonly containers: number;
}

export const SERVER_STORIES: readonly ServerStory[] = [
  {
    name: 'the main job',
    words: '-n shop --image=debian -- seq 1 200',
    user: 'U0ROY',
    anchor: 'Succeeded',
    result: '200',
    files: 1,
    containers: 1,
  },
  {
    name: 'an approved run',
    words: "-n shop --image=debugger --profile=sysadmin -- sh -c 'echo attached; exit 3'",
    user: 'U0THURSTON',
    click: { user: 'U0BOB', action: 'approve' },
    anchor: 'failed with exit code 3',
    result: 'attached',
    files: 0,
    containers: 1,
  },
  {
    name: 'a rejected run',
    words: '-n shop --image=debugger --profile=sysadmin -- id',
    user: 'U0THURSTON',
    click: { user: 'U0BOB', action: 'reject' },
    anchor: 'Rejected',
    files: 0,
    containers: 0,
  },
];

/** Tells a story with a crash, and lets replicas follow until all is told. */
export async function tellOnServers(
  cluster: LocalCluster,
  story: ServerStory,
  crashes: readonly CrashPoint[],
): Promise<{ readonly scene: ServerScene; readonly tally: Tally }> {
  const scene = await ServerScene.open({ cluster, crashes });
  try {
    await scene.boot();
    const [first] = scene.replicas;
    const delivery = scene
      .type(`${scene.pod} ${story.words}`, story.user)
      .then(({ error }) => error === undefined && first?.life.dead === false);
    const acknowledged = await Promise.race([delivery, deathOf(first)]);
    await scene.settle(15_000, () => clickIfAsked(scene, story));
    return { scene, tally: judgeServers(scene, story, acknowledged || (await scene.run()) !== undefined) };
  } finally {
    await scene.close();
  }
}

/** False as soon as the replica is dead; a command that it was answering is not answered then. */
async function deathOf(replica: ServerReplica | undefined): Promise<boolean> {
  while (replica && !replica.life.dead) await new Promise((resolve) => setTimeout(resolve, 10));
  return false;
}

async function clickIfAsked(scene: ServerScene, { click }: ServerStory): Promise<void> {
  const run = await scene.run();
  const anchor = scene.posts('anchor')[0];
  if (!click || !anchor || run?.state !== 'pending-approval' || !run.delivery.anchor) return;
  const replica = scene.replicas.at(-1);
  const press = scene.press(click.user, click.action, anchor.ts).catch(() => undefined);
  await Promise.race([press, deathOf(replica)]);
}

function judgeServers(scene: ServerScene, story: ServerStory, accepted: boolean): Tally {
  const tally = new Tally();
  const { slack, cluster } = scene;
  const anchors = scene.posts('anchor');
  const results = scene.posts('result');
  const containers = cluster.pod('shop', scene.pod)?.spec.ephemeralContainers?.length ?? 0;
  const wanted = accepted ? story : { ...story, files: 0, containers: 0 };
  count(tally, 'anchor', anchors.length, accepted ? 1 : 0);
  count(tally, 'result', results.length, accepted ? 1 : 0);
  count(tally, 'file', slack.files().length, wanted.files);
  count(tally, 'container', containers, wanted.containers);
  if (!accepted) return tally;
  const [anchor] = anchors;
  const [result] = results;
  if (!JSON.stringify(anchor?.blocks).includes(story.anchor)) tally.wrong(`the anchor says ${anchor?.text}`);
  if (story.result && !JSON.stringify(result?.blocks).includes(story.result))
    tally.wrong(`the result says ${result?.text}`);
  if (result && result.threadTs !== anchor?.ts) tally.wrong('the result is not in the thread');
  if (slack.unknown.length > 0) tally.wrong(`unknown to Slack: ${slack.unknown.join()}`);
  return tally;
}

function count(tally: Tally, what: string, found: number, wanted: number): void {
  for (let n = found; n < wanted; n += 1) tally.lose(what);
  for (let n = found; n > wanted; n -= 1) tally.double(what);
}
