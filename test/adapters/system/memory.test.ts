import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryOf } from '../../../src/adapters/system/memory.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kdebug-cgroup-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const cgroup = (files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `memory.${name}`), text);
};

describe('the memory of the container', () => {
  it('is that of its cgroup, without the files that nobody uses', async () => {
    cgroup({ current: '300000000\n', max: '536870912\n', stat: 'anon 1\ninactive_file 100000000\nactive_file 5\n' });
    expect(await memoryOf(folder)).toEqual({ usedBytes: 200_000_000, limitBytes: 536_870_912 });
  });

  it('without a limit may be all of the machine', async () => {
    cgroup({ current: '300000000\n', max: 'max\n', stat: '' });
    expect(await memoryOf(folder)).toEqual({ usedBytes: 300_000_000, limitBytes: totalmem() });
  });

  it('outside a cgroup is that of the process', async () => {
    const { usedBytes, limitBytes } = await memoryOf(folder);
    expect(usedBytes).toBeGreaterThan(1_000_000);
    expect(limitBytes).toBe(totalmem());
  });
});
