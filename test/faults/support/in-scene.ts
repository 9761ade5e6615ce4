import { expect } from 'vitest';
import type { LocalCluster } from '../../../play/cluster/index.ts';
import { type SceneOptions, ServerScene } from './server-scene.ts';

/** Words of a request whose log is longer than an excerpt, so that a file goes with it. */
export const LONG = '-n shop --image=debian -- seq 1 200';
/** The same, but it ends only when a test lets it. */
export const HELD = "-n shop --image=debian -- sh -c 'seq 1 200; sleep 86400'";

/** A run that asks for an approval. */
export const ASKING = '-n shop --image=debugger --profile=sysadmin -- id';

/** What happens to the servers of a scene. */
export type Mishap = (scene: ServerScene) => Promise<void>;

/** Lets a held run end well. */
export async function letEnd(scene: ServerScene): Promise<void> {
  const { containerName } = await scene.reach('running');
  scene.cluster.killContainer('shop', scene.pod, containerName ?? '', { exitCode: 0, reason: 'Completed' });
}

/** Where a second run of a scene is asked for. */
export const ELSEWHERE = 'C0OPS';

/** Plays in scenes on one cluster. */
export type InScene = (
  play: (scene: ServerScene) => Promise<void>,
  options?: Partial<SceneOptions>,
) => () => Promise<void>;

export const scenesOn =
  (cluster: () => LocalCluster): InScene =>
  (play, options = {}) =>
  async () => {
    const scene = await ServerScene.open({ cluster: cluster(), ...options });
    try {
      await play(scene);
      expect(scene.slack.unknown).toEqual([]);
    } finally {
      scene.cluster.faults.clear();
      await scene.close();
    }
  };

export interface Told {
  readonly verdict?: string;
  readonly files?: number;
  readonly containers?: number;
}

/** What the servers hold in the end: one container, one anchor with its verdict, one result, one file with the whole log. */
export async function toldOnce(scene: ServerScene, wanted: Told = {}): Promise<void> {
  const { verdict = 'Succeeded', files = 1, containers = 1 } = wanted;
  expect(containersIn(scene)).toBe(containers);
  const own = (kind: 'anchor' | 'result') => scene.posts(kind).filter(({ channel }) => channel !== ELSEWHERE);
  expect(own('anchor').map(({ text }) => text)).toEqual([expect.stringContaining(verdict)]);
  expect(own('result')).toHaveLength(1);
  expect(scene.slack.files()).toHaveLength(files);
  const content = await scene.slack.files()[0]?.content();
  if (content) expect(content.toString().trim().split('\n')).toEqual(numbersTo(200));
}

export const containersIn = (scene: ServerScene, pod = scene.pod): number =>
  scene.cluster.pod('shop', pod)?.spec.ephemeralContainers?.length ?? 0;

const numbersTo = (last: number): string[] => Array.from({ length: last }, (_, index) => String(index + 1));

/** All that people can read of our posts of a kind. */
export const wordsOf = (scene: ServerScene, kind: 'anchor' | 'result'): string =>
  scene
    .posts(kind)
    .map(({ text, blocks }) => text + JSON.stringify(blocks))
    .join('\n');

/** What only this person was told. */
export const toldPrivately = (scene: ServerScene, user = 'U0ROY'): string =>
  scene.slack
    .ephemerals(user)
    .map(({ text, blocks }) => text + JSON.stringify(blocks))
    .join('\n');
