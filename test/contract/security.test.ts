import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/core/container/profiles.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const sectionOf = (page: string, title: string): string =>
  page.split(/^## /m).find((part) => part.startsWith(title)) ?? '';

describe('SECURITY.md', () => {
  const page = read('SECURITY.md');

  it('is found from the README, and says first how to report a vulnerability in private', () => {
    expect(read('README.md')).toContain('](SECURITY.md)');
    const [, first = ''] = page.split(/^## /m);
    expect(first).toMatch(/^To report a vulnerability\n/);
    expect(first).toContain('privately');
    // No address that nobody reads.
    expect(page).not.toMatch(/mailto:|[\w.]+@[\w-]+\.\w/);
  });

  it('says of every profile, and of no other, what it can do in the pod', () => {
    const rows = sectionOf(page, 'What each profile can do')
      .split('\n')
      .filter((line) => line.startsWith('| *'));
    const named = rows.map((row) => /^\| \*(\w+)\*/.exec(row)?.[1]);
    expect(new Set(named)).toEqual(new Set(PROFILES));
    for (const row of rows) expect(row.split('|')).toHaveLength(7);
  });
});

describe('the section "Hardening"', () => {
  const section = sectionOf(read('docs/operations.md'), 'Hardening');

  it('names only folders and tests that there are', () => {
    const named = [...section.matchAll(/(?:apply -k |vitest run )([\w./-]+)/g)].map(([, path = '']) => path);
    expect(named).toContain('manifests/components/mapped-people');
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('applies a copy of the egress policy, because the example has an address that is nobody’s', () => {
    expect(read('manifests/components/egress/network-policy.yaml')).toContain('192.0.2.1');
    expect(section).toContain('manifests/components/egress');
    expect(section).not.toContain('apply -k manifests/components/egress');
  });

  it('builds with the arguments that the Dockerfiles take', () => {
    const given = [...section.matchAll(/--build-arg (\w+)=/g)].map(([, name]) => name);
    expect(given).toEqual(['REVISION', 'SOURCE_DATE_EPOCH']);
    for (const path of ['Dockerfile', 'images/autodiagnose/Dockerfile'])
      for (const name of given) expect(read(path), path).toMatch(new RegExp(`^ARG ${name}=`, 'm'));
  });
});
