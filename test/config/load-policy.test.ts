import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPolicy, parsePolicy } from '../../src/config/load-policy.ts';
import { fixture, MINIMAL, problems } from './policy-text.ts';

describe('a file that is wrong', () => {
  it('has all its problems reported together, in its order, with line, column, path and the nearest right word', () => {
    const result = loadPolicy(fixture('wrong.yaml'));
    const lines =
      result.kind === 'invalid' ? result.problems.map((line) => line.replace(fixture('wrong.yaml'), 'wrong.yaml')) : [];
    expect(lines).toEqual(readFileSync(fixture('wrong.problems.txt'), 'utf8').trim().split('\n'));
  });

  it('a file that is not there, or is too long, is a problem like any other', () => {
    const directory = mkdtempSync(join(tmpdir(), 'kdebug-policy-'));
    const long = join(directory, 'long.yaml');
    writeFileSync(long, `#${'x'.repeat(1_048_576)}`);

    expect(loadPolicy(join(directory, 'none.yaml'))).toEqual({
      kind: 'invalid',
      problems: [`${directory}/none.yaml: cannot be read (ENOENT)`],
    });
    expect(loadPolicy(long)).toEqual({ kind: 'invalid', problems: [`${long}: is longer than 1 MiB`] });
    rmSync(directory, { recursive: true });
  });

  it('prototypes are never touched', () => {
    problems('version: 1\n__proto__: { polluted: true }\nimages: { __proto__: { polluted: true } }\n');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('the hash', () => {
  it('is that of the text: another text, another hash', () => {
    const [one, same, other] = [MINIMAL, MINIMAL, `${MINIMAL}# changed\n`].map((text) => parsePolicy(text, 'p.yaml'));
    expect(one).toEqual(same);
    expect(one).toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(one).not.toMatchObject({ hash: (other as { hash: string }).hash });
  });
});
