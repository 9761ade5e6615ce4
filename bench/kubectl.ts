import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);

const KUBECTL = process.env.KUBECTL ?? 'kubectl';

/** The version of the kubectl to compare with; undefined when there is none on this machine. */
export async function kubectlVersion(): Promise<string | undefined> {
  try {
    const { stdout } = await run(KUBECTL, ['version', '--client', '-o', 'json']);
    return /"gitVersion": "([^"]*)"/.exec(stdout)?.[1] ?? 'of an unknown version';
  } catch {
    return undefined;
  }
}

/** Where kubectl finds a cluster, and keeps what it learnt of its API. */
export interface KubectlPlace {
  readonly kubeconfigPath: string;
  readonly cacheDirectory: string;
  readonly namespace: string;
}

export interface KubectlRun {
  readonly pod: string;
  /** Of the ephemeral container to add. */
  readonly name: string;
  readonly image: string;
}

/** The shell loop that people write today (KEP-277, "Automation"), for one pod. `times` tells what the three commands cost. */
const SCRIPT = `kubectl=$1 pod=$2 name=$3 image=$4; shift 4
"$kubectl" "$@" debug "$pod" --image="$image" --target=app -c "$name" --profile=general --image-pull-policy=IfNotPresent -- echo hello >/dev/null 2>&1 &&
"$kubectl" "$@" wait "pod/$pod" --for="jsonpath={.status.ephemeralContainerStatuses[?(@.name==\\"$name\\")].state.terminated.exitCode}=0" --timeout=60s >/dev/null &&
"$kubectl" "$@" logs "$pod" -c "$name" && times`;

/** One run by `kubectl debug; kubectl wait; kubectl logs`: its wall time, and the CPU time of the three. */
export async function debugWaitLogs(
  place: KubectlPlace,
  { pod, name, image }: KubectlRun,
): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const startMs = performance.now();
  const { stdout } = await run('sh', ['-c', SCRIPT, 'sh', KUBECTL, pod, name, image, ...argsOf(place)]);
  const ms = performance.now() - startMs;
  const [hello, , ofChildren = ''] = stdout.split('\n');
  if (hello !== 'hello') throw new Error(`kubectl brought another log: ${stdout}`);
  return { ms, cpuMs: cpuMsOf(ofChildren) };
}

/** Reads the whole log of the container `app` into nothing; resolves with the milliseconds that it took. */
export async function readLog(place: KubectlPlace, pod: string): Promise<number> {
  const startMs = performance.now();
  const child = spawn(KUBECTL, [...argsOf(place), 'logs', pod, '-c', 'app'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`kubectl logs ended with ${String(code)}`);
  return performance.now() - startMs;
}

const argsOf = ({ kubeconfigPath, cacheDirectory, namespace }: KubectlPlace): readonly string[] => [
  '--kubeconfig',
  kubeconfigPath,
  '--cache-dir',
  cacheDirectory,
  '-n',
  namespace,
];

/** Of a line of POSIX `times`: `0m0.123s 0m0.045s`, user and system. */
const cpuMsOf = (line: string): number =>
  line
    .split(' ')
    .map((time) => /^(\d+)m([\d.]+)s$/.exec(time))
    .reduce((sum, found) => sum + (Number(found?.[1]) * 60 + Number(found?.[2])) * 1000, 0);
