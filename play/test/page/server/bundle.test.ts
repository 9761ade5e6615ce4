import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { buildBundle } from '../../../page/server/bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'kdebug-bundle-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe('the bundle', () => {
  it('is one script and one style, made in memory', async () => {
    write('page.css', '.a { color : red }');
    const entry = write(
      'main.tsx',
      "import './page.css'; const x: string = process.env.NODE_ENV ?? ''; document.title = x;",
    );
    expect(await buildBundle(entry)).toEqual({
      script: expect.stringContaining('"production";document.title='),
      style: '.a{color:red}\n',
    });
  });

  it('fails with the place of the mistake', async () => {
    await expect(buildBundle(write('wrong.tsx', 'const = 1;'))).rejects.toThrow(/wrong\.tsx:1:6/);
  });
});
