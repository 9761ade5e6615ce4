import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { loadPolicy } from '../../src/config/load-policy.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/live-check.md', import.meta.url)), 'utf8');
const [script = '', settles = ''] = page.split('## What each step settles');
const steps = [...script.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));

const directory = mkdtempSync(join(tmpdir(), 'kdebug-live-check-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('the check on a real Slack', () => {
  it('has at most 40 steps, numbered as they are done, none twice', () => {
    expect(steps).toEqual(Array.from({ length: steps.length }, (_, index) => index + 1));
    expect(steps.length).toBeGreaterThan(30);
    expect(steps.length).toBeLessThanOrEqual(40);
  });

  it('names only steps that there are, in the script and in what they settle', () => {
    const named = [...script.matchAll(/\bsteps? (\d+)(?: and (\d+))?/g)].flatMap(([, ...numbers]) => numbers);
    const settling = settles
      .split('\n')
      .flatMap((line) => /^\| .* \| (\d[^|]*) \| .* \|$/.exec(line)?.[1]?.split(', ') ?? []);
    expect(settling.length).toBeGreaterThan(40);
    const numbers = [...named, ...settling].filter((one) => one !== undefined).map(Number);
    expect(numbers.filter((number) => !steps.includes(number))).toEqual([]);
  });

  it('has a policy that kdebug takes', () => {
    const yaml = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';
    const path = join(directory, 'policy.yaml');
    // The page leaves the middle of each id out.
    writeFileSync(path, yaml.replaceAll(/\b([SCU]0)…([A-Z]+)/g, '$1LIVE$2'));
    const loaded = loadPolicy(path);
    expect(loaded.kind === 'invalid' ? loaded.problems : Object.keys(loaded.policy.channels)).toEqual([
      'C0LIVEIN',
      'C0LIVEOUT',
      'direct',
      'C0LIVEPRIVATE',
    ]);
  });
});
