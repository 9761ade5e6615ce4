import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Resources } from '../objects/pod.ts';
import { SimulatedCgroup } from './cgroup.ts';
import type { Process } from './process.ts';
import type { LocalProcess } from './workloads.ts';

const SCRIPT = fileURLToPath(new URL('../../../images/autodiagnose/autodiagnose.sh', import.meta.url));
/** As often as a chart reads, which would else alternate between nothing and double. */
const REFRESH_MS = 100;
/** Shorter than in a cluster: nobody who plays waits for a sample. */
const SAMPLE_SECONDS = 1;

/** All that is handed over from the container's environment. What a user typed never gets here. */
const PASSED_ON = ['KDEBUG_RUN', 'KDEBUG_NOT_AFTER', 'KDEBUG_COMPARE'];

interface DiagnosisTarget {
  readonly local: LocalProcess | undefined;
  readonly resources: Resources | undefined;
}

/**
 * Runs the real autodiagnose against a real local process: a fixed program with fixed arguments. Where that is not
 * possible (no /proc, no local process behind the pod) it reports that, and no number.
 */
export async function autodiagnose(process: Process, { local, resources }: DiagnosisTarget): Promise<number> {
  if (!existsSync('/proc/self/stat')) return notMeasured(process, 'this machine has no /proc');
  if (!local) return notMeasured(process, 'the pod has no local process');
  const cgroup = new SimulatedCgroup(local.pid, resources);
  const termination = join(cgroup.path, 'termination-log');
  writeFileSync(termination, '');
  const refresh = setInterval(() => cgroup.refresh(), REFRESH_MS);
  try {
    const code = await runScript(process, {
      ...passedOn(process),
      PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
      AUTODIAGNOSE_PID: String(local.pid),
      AUTODIAGNOSE_CGROUP: cgroup.path,
      AUTODIAGNOSE_TERMINATION_LOG: termination,
      AUTODIAGNOSE_SAMPLE: String(SAMPLE_SECONDS),
    });
    process.writeTermination(readFileSync(termination, 'utf8'));
    return code;
  } finally {
    clearInterval(refresh);
    cgroup.remove();
  }
}

function passedOn({ env }: Process): Record<string, string> {
  return Object.fromEntries(PASSED_ON.flatMap((name) => (env.has(name) ? [[name, env.get(name) ?? '']] : [])));
}

function runScript(process: Process, env: Record<string, string>): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn('sh', [SCRIPT], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const kill = () => child.kill('SIGKILL');
    process.signal.addEventListener('abort', kill, { once: true });
    child.stdout.on('data', (chunk: Buffer) => process.write(chunk));
    child.stderr.on('data', (chunk: Buffer) => process.write(chunk));
    child.once('error', () => resolve(127));
    child.once('close', (code) => {
      process.signal.removeEventListener('abort', kill);
      resolve(code ?? 137);
    });
  });
}

/** For the pods of a recording, behind which there is no process: what a diagnosis of a healthy one says. */
export async function nothingFound(process: Process): Promise<number> {
  process.write('autodiagnose: a recorded pod, nothing found inside.\n');
  const sections = ['processes', 'memory', 'cpu', 'network', 'files'].map((name) => ({
    name,
    state: 'ok',
    text: 'fine',
  }));
  process.writeTermination(JSON.stringify({ kdebug: 1, verdict: 'No problems found.', findings: [], sections }));
  return 0;
}

function notMeasured(process: Process, why: string): number {
  process.write(`autodiagnose measures nothing here: ${why}.\n`);
  const sections = [{ name: 'processes', state: 'not-readable', text: why }];
  process.writeTermination(JSON.stringify({ kdebug: 1, verdict: 'Nothing was measured.', findings: [], sections }));
  return 0;
}
