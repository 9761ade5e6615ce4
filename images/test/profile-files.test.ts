import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogFilter } from '../../src/core/redact/log-filter.ts';

const TOOLS = new URL('../tools', import.meta.url).pathname;
const hasGo = spawnSync('go', ['version']).status === 0;

/** The files of the profile image, of functions whose names look like secrets, as kdebug delivers them. */
describe.skipIf(!hasGo)('a redacted profile', () => {
  let folder = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kdebug-profile-'));
    const env = { ...process.env, KDEBUG_HOSTILE: folder, CGO_ENABLED: '0' };
    execFileSync('go', ['test', '-count=1', '-run', 'TestWriteHostile', './internal/flame'], { cwd: TOOLS, env });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function redacted(name: string): string {
    const filter = createLogFilter({ redact: [] });
    const first = Buffer.from(filter.push(readFileSync(join(folder, name))));
    return Buffer.concat([first, filter.end()]).toString('utf8');
  }

  it.each(['cpu.svg', 'cpu.speedscope.json', 'cpu.folded'])(
    '%s tells no secret, and hides no more than it must',
    (name) => {
      const text = redacted(name);
      expect(text).not.toMatch(/hunter2222|AKIAIOSFODNN7|abcdefghijklmnop|0123456789abcdefghij/);
      expect(text).toContain('[redacted:');
      expect(text).toContain('main');
    },
  );

  it('is still a picture', () => {
    const text = redacted('cpu.svg');
    const tags = [...text.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)];
    const open: string[] = [];
    for (const [, closes, name = '', isEmpty] of tags) {
      if (closes) expect(open.pop()).toBe(name);
      else if (!isEmpty) open.push(name);
    }
    expect(open).toEqual([]);
    expect(text.replace(/<[^<>]*>/g, '')).not.toMatch(/[<>]/);
  });

  it('is still a profile of speedscope, with every frame and sample', () => {
    const before = JSON.parse(readFileSync(join(folder, 'cpu.speedscope.json'), 'utf8'));
    const after = JSON.parse(redacted('cpu.speedscope.json'));
    expect(after.shared.frames).toHaveLength(before.shared.frames.length);
    expect(after.profiles[0].samples).toEqual(before.profiles[0].samples);
    expect(after.profiles[0].weights).toEqual(before.profiles[0].weights);
  });

  it('has every folded line, each with its number', () => {
    const numbers = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(line.lastIndexOf(' ') + 1));
    expect(numbers(redacted('cpu.folded'))).toEqual(numbers(readFileSync(join(folder, 'cpu.folded'), 'utf8')));
  });
});
