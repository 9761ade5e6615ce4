import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { CLUSTER, kubectl, run, STATE } from './support/commands.ts';
import { PodNetwork } from './support/pod-network.ts';
import { loadRedis } from './support/redis-pod.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder in which the built images are, as OCI layouts. */
    images: string;
  }
}

const ctr = (...words: readonly string[]): Promise<string> =>
  run('ctr', ['--address', join(STATE, 'containerd.sock'), '-n', 'k8s.io', 'images', ...words]);

/** A registry, or a machine that is busy with much else, fails once. */
async function atMostTwice<Value>(work: () => Promise<Value>): Promise<Value> {
  return work().catch((thrown: unknown) => {
    console.warn(`once more, after: ${String(thrown)}`);
    return work();
  });
}

/**
 * Builds the images, gives them to the cluster, and lets its pods reach what they need; `KDEBUG_IMAGES` names a folder that keeps
 * the images for the next time, and `KDEBUG_LOADED` says that the cluster has those of its own tests. The returned function takes away all but the images.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads a global setup by its default export.
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const kept = process.env.KDEBUG_IMAGES;
  const images = kept ?? mkdtempSync(join(tmpdir(), 'kdebug-images-'));
  if (!existsSync(join(images, 'kdebug.tar'))) {
    await atMostTwice(() => run('bash', ['test/installed/build-images.sh', images]));
  }
  for (const name of ['kdebug', 'autodiagnose']) await ctr('import', join(images, `${name}.tar`));
  if (!process.env.KDEBUG_LOADED) await run('sh', ['test/cluster/load-images.sh', join(CLUSTER, 'load-image')]);
  await loadRedis();
  const network = await atMostTwice(() => PodNetwork.start());
  project.provide('images', images);
  return async () => {
    await network.stop();
    await kubectl(['delete', 'namespace', 'kdebug', 'kdebug-redis', '--ignore-not-found', '--wait=false']);
    if (kept === undefined) rmSync(images, { recursive: true, force: true });
  };
}
