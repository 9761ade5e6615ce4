import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasRedis } from '../adapters/store/redis/redis-server.ts';
import { Kube } from '../e2e/kube.ts';
import { type BuiltProgram, buildProgram } from '../support/program/built-program.ts';
import { CRASH_POINTS, type CrashPoint } from './crashes/crash-points.ts';
import { CrashScene } from './crashes/crash-scene.ts';

const path = process.env.KUBECONFIG;
if (path === undefined) throw new Error('KUBECONFIG names no cluster: set it to the kubeconfig of a test cluster');
const kubeconfig = readFileSync(path, 'utf8');

describe.skipIf(!hasRedis)('a process that is killed', () => {
  const kube = new Kube(kubeconfig);
  const adoptions: number[] = [];
  let survived = 0;
  let namespace: string;
  let program: BuiltProgram;

  beforeAll(async () => {
    [namespace, program] = await Promise.all([kube.namespace('kdebug-crash'), buildProgram()]);
    const app = { name: 'app', image: 'localhost/busybox:1', imagePullPolicy: 'IfNotPresent' };
    const spec = { terminationGracePeriodSeconds: 0, containers: [{ ...app, command: ['sleep', '3600'] }] };
    await Promise.all(CRASH_POINTS.map((_, index) => kube.pod(namespace, `web-${index}`, spec)));
  });

  afterAll(async () => {
    await kube.cleanUp();
    program?.remove();
    const slowest = (Math.max(0, ...adoptions) / 1000).toFixed(1);
    console.log(
      `kill -9 survived ${survived}/${CRASH_POINTS.length}, adopted by a running replica ${adoptions.length} times, within ${slowest} s`,
    );
  });

  it.each(CRASH_POINTS.map((point, index) => ({ ...point, index })))(
    'when $name: the other, which $second, tells it to its end, once',
    async ({ index, ...point }) => {
      const { store = 'redis' } = point;
      const scene = await CrashScene.open({ program, kube, kubeconfig, namespace, pod: `web-${index}`, store });
      try {
        const adoptedMs = await tell(scene, point);
        expect(await scene.wrong(point.story)).toEqual([]);
        const result = scene.at.textOf(scene.at.posts('result')[0]);
        expect(result).toMatch(point.says ?? /Exit code\s*:?\s*0/);
        // How soon is printed, not judged: the five seconds are the store's and the bench's to prove.
        if (adoptedMs !== undefined) adoptions.push(adoptedMs);
        survived += 1;
      } finally {
        await scene.close();
      }
    },
  );
});

/** The whole story with its kill; resolves with how long a running replica took to adopt the run. */
async function tell(scene: CrashScene, point: CrashPoint): Promise<number | undefined> {
  const { at } = scene;
  const first = await at.boot();
  const running = point.second === 'runs' ? await at.boot() : undefined;
  const reached = point.reached(scene);
  // A command that fails ends the test before anybody waits for this.
  reached.catch(() => undefined);
  const { error } = await scene.ask(point.story);
  expect(error).toBeUndefined();
  if (point.vote === 'before') await scene.approve();
  await reached;

  const killedAtMs = performance.now();
  await first.kill();
  await point.meanwhile?.(scene);
  const second = running ?? (await at.boot());
  at.sendTo(second);
  if (point.vote === 'after') await scene.approve();
  await scene.told(point.story);
  // Everything may stand there while the second still makes sure of it.
  await second.says('run ended');
  expect(await second.stop()).toEqual({ code: 0, signal: null });
  return running && (await running.says('run adopted')).seenAtMs - killedAtMs;
}
