import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';

/**
 * The folder in which a container sees its own cgroup, version 2. Version 1 has other files; Kubernetes only maintains
 * it.
 */
const CGROUP = '/sys/fs/cgroup';

export interface Memory {
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/**
 * Reads the two figures that the kernel compares before it ends the container: the kubelet's working set (all but the
 * files that nobody uses), and the limit. Outside a cgroup: those of this process and the machine. Never rejects.
 */
export async function memoryOf(folder = CGROUP): Promise<Memory> {
  const read = (file: string): Promise<string> => readFile(`${folder}/${file}`, 'utf8').catch(() => '');
  const [current, limit, stat] = await Promise.all(['memory.current', 'memory.max', 'memory.stat'].map(read));
  const inactive = Number(/^inactive_file (\d+)$/m.exec(stat ?? '')?.[1] ?? 0);
  return {
    usedBytes: numberOf(current) === undefined ? process.memoryUsage.rss() : Number(current) - inactive,
    limitBytes: numberOf(limit) ?? totalmem(),
  };
}

/** `max` is no number: there is no limit. */
const numberOf = (text = ''): number | undefined => (/^\d+\s*$/.test(text) ? Number(text) : undefined);
