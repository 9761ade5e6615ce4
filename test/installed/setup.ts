import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { CLUSTER, kubectl, ROOT, run, STATE } from './support/commands.ts';
import { PodNetwork } from './support/pod-network.ts';
import { loadRedis } from './support/redis-pod.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder in which the built images are, as OCI layouts. */
    images: string;
  }
}

const import_ = (archive: string): Promise<string> =>
  run('ctr', ['--address', join(STATE, 'containerd.sock'), '-n', 'k8s.io', 'images', 'import', archive]);

/**
 * Builds the images, gives them to the cluster, and lets its pods reach what they need; `KDEBUG_IMAGES` names a folder that keeps
 * the images for the next time. The returned function takes away all but the images.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads a global setup by its default export.
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const kept = process.env.KDEBUG_IMAGES;
  const images = kept ?? mkdtempSync(join(tmpdir(), 'kdebug-images-'));
  if (!existsSync(join(images, 'kdebug.tar'))) await run('bash', ['test/installed/build-images.sh', images]);
  for (const name of ['kdebug', 'autodiagnose']) await import_(join(images, `${name}.tar`));
  await run('sh', ['test/cluster/load-images.sh', join(CLUSTER, 'load-image')]);
  await loadRedis();
  const network = await PodNetwork.start();
  project.provide('images', images);
  return async () => {
    await network.stop();
    await kubectl(['delete', 'namespace', 'kdebug', 'kdebug-redis', '--ignore-not-found', '--wait=false']);
    if (kept === undefined) rmSync(images, { recursive: true, force: true });
  };
}
