import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesInLog } from '../../../test/cluster/files-in-log.ts';
import { expectValid } from '../autodiagnose/script.ts';

const TOOLS = new URL('../../tools', import.meta.url).pathname;
const canTrace = process.platform === 'linux' && spawnSync('go', ['version']).status === 0;

/** The log of a real death: a Go program that panics, as a child of the test of the image. */
describe.skipIf(!canTrace)('the log of a death', () => {
  let folder = '';
  let log = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kdebug-blackbox-'));
    const file = join(folder, 'death.log');
    const env = { ...process.env, KDEBUG_DEATH: file, CGO_ENABLED: '0' };
    execFileSync('go', ['test', '-count=1', '-run', 'TestWriteDeath', './cmd/blackbox'], { cwd: TOOLS, env });
    log = readFileSync(file, 'utf8');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('ends in a report that the schema allows', () => {
    const report = /^-----BEGIN KDEBUG REPORT-----\n(.*)\n-----END KDEBUG REPORT-----$/m.exec(log)?.[1] ?? '';
    expectValid(report);
    expect(JSON.parse(report)).toMatchObject({
      verdict: expect.stringMatching(/ended itself with exit code 2, of a panic that nobody recovered in main\.panics/),
      findings: [{ code: 'died_of_exit', section: 'death' }],
      tool: { name: 'blackbox' },
    });
  });

  it('has the verdict before the files, and the report behind them', () => {
    const places = [
      'Process ',
      'BEGIN KDEBUG FILE name=death.txt',
      'BEGIN KDEBUG FILE name=stacks.folded',
      'BEGIN KDEBUG REPORT',
    ];
    const found = places.map((words) => log.indexOf(words));
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(found).not.toContain(-1);
  });

  it('has whole files', () => {
    const files = filesInLog(log);
    const death = files.get('death.txt')?.toString() ?? '';
    expect(death).toContain('of a panic that nobody recovered in main.panics');
    for (const title of ['The thread that ended the process', 'Memory', 'Threads', 'Open files'])
      expect(death).toContain(`\n${title}\n`);
    expect(files.get('stacks.folded')?.toString()).toMatch(/;main\.panics;runtime\.gopanic;.*runtime\.exit 1\n/);
  });
});
