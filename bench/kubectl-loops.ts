import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debugWaitLogs, kubectlVersion } from './kubectl.ts';
import { localScene } from './scene.ts';

const run = promisify(execFile);

/** What one pod costs in the loops that people write, as a share of many. */
export interface KubectlLoops {
  readonly runs: number;
  readonly sequentialMs: number;
  readonly parallelMs: number;
}

const LOOP = `kubectl=$1; shift
export kubectl
xargs -P8 -I{} sh -c 'pod=$1; shift
"$kubectl" "$@" debug "$pod" --image=localhost/busybox:1 --target=app -c looped --profile=general --image-pull-policy=IfNotPresent -- echo hello >/dev/null 2>&1 &&
"$kubectl" "$@" wait "pod/$pod" --for="jsonpath={.status.ephemeralContainerStatuses[?(@.name==\\"looped\\")].state.terminated.exitCode}=0" --timeout=60s >/dev/null &&
"$kubectl" "$@" logs "$pod" -c looped' sh {} "$@"`;

/** Eight rounds of eight would take long on a busy machine: so many pods in each loop, the figures in proportion. Undefined without kubectl. */
export async function timeLoops(runs: number): Promise<KubectlLoops | undefined> {
  if (runs === 0 || (await kubectlVersion()) === undefined) return undefined;
  const scene = await localScene(0, runs * 2);
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-bench-'));
  try {
    const kubeconfigPath = join(directory, 'kubeconfig');
    writeFileSync(kubeconfigPath, scene.kubeconfig, { mode: 0o600 });
    const place = { kubeconfigPath, cacheDirectory: join(directory, 'cache'), namespace: scene.namespace };
    const image = 'localhost/busybox:1';
    const first = { pod: scene.pods[0] ?? '', name: 'warm-up', image };
    await debugWaitLogs(place, first);
    let sequentialMs = 0;
    for (const pod of scene.pods.slice(0, runs)) {
      sequentialMs += (await debugWaitLogs(place, { pod, name: 'looped', image })).ms;
    }
    const startMs = performance.now();
    const kubectl = process.env.KUBECTL ?? 'kubectl';
    const words = ['--kubeconfig', kubeconfigPath, '--cache-dir', place.cacheDirectory, '-n', scene.namespace];
    const looped = run('sh', ['-c', LOOP, 'sh', kubectl, ...words]);
    looped.child.stdin?.end(`${scene.pods.slice(runs).join('\n')}\n`);
    const { stdout } = await looped;
    const told = stdout.split('\n').filter((line) => line === 'hello').length;
    if (told !== runs) throw new Error(`xargs brought ${told} of ${runs} logs`);
    return { runs, sequentialMs: sequentialMs / runs, parallelMs: (performance.now() - startMs) / runs };
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await scene.close();
  }
}
