import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether there is a kubectl to compare with; says so when not. */
export async function hasKubectl(): Promise<boolean> {
  try {
    await run('kubectl', ['version', '--client']);
    return true;
  } catch {
    console.log('no kubectl on this machine: its rows are left out');
    return false;
  }
}

/** The calls of the shell loop that people write today: debug, wait, logs (KEP-277, "Automation"). */
export async function debugWaitLogs(
  kubeconfig: string,
  target: { readonly namespace: string; readonly pod: string; readonly container: string; readonly image: string },
  name: string,
): Promise<void> {
  const common = ['--kubeconfig', kubeconfig, '-n', target.namespace];
  const { pod, container, image } = target;
  await run('kubectl', [
    ...common,
    'debug',
    pod,
    `--image=${image}`,
    `--target=${container}`,
    '-c',
    name,
    '--profile=general',
    '--',
    'echo',
    'hello',
  ]);
  const jsonpath = `jsonpath={.status.ephemeralContainerStatuses[?(@.name=="${name}")].state.terminated.exitCode}=0`;
  await run('kubectl', [...common, 'wait', `pod/${pod}`, `--for=${jsonpath}`, '--timeout=60s']);
  await run('kubectl', [...common, 'logs', pod, '-c', name]);
}

/** Reads a whole log with kubectl; resolves with the bytes it printed. */
export async function readLog(kubeconfig: string, namespace: string, pod: string, container: string): Promise<number> {
  const child = spawn('kubectl', ['--kubeconfig', kubeconfig, '-n', namespace, 'logs', pod, '-c', container], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(child, 'close');
  return bytes;
}
