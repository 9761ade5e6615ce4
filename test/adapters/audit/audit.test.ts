import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChainedAuditLog } from '../../../src/adapters/audit/index.ts';
import { reportLines, verifyAudit } from '../../../src/cli/audit.ts';
import { type AuditRecord, auditKey } from '../../../src/core/audit/chain.ts';
import type { AuditEntry } from '../../../src/flow/ports.ts';
import { START_MS } from '../../support/builders.ts';

const KEY = Buffer.alloc(32, 7);
const entry = (n: number, facts: AuditEntry['facts'] = {}): AuditEntry => ({
  step: 'decision',
  atMs: START_MS + n,
  runId: 'aaaaaaaaaa',
  channelId: 'C0SHOP',
  actorId: 'U0ROY',
  facts,
});

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kdebug-audit-test-'));
  path = join(directory, 'audit.log');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function written(count: number): Promise<readonly string[]> {
  const audit = new ChainedAuditLog({ destination: { kind: 'file', path }, key: KEY });
  await Promise.all(
    Array.from({ length: count }, (_, n) => audit.append(entry(n, { kind: 'allow', rule: 'look', n }))),
  );
  await audit.close();
  return readFileSync(path, 'utf8').trimEnd().split('\n');
}

const verify = async (key: Uint8Array = KEY) => verifyAudit(path, auditKey(key));
const rewrite = (lines: readonly string[]) => writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
const problemsAfter = async (change: (lines: string[]) => string[]) => {
  rewrite(change([...(await written(5))]));
  return (await verify()).problems.map(({ problem }) => problem).join('; ');
};

describe('an audit file', () => {
  it('is verified as it was written, in the order of the steps', async () => {
    const lines = await written(5);
    expect(lines).toHaveLength(6);
    expect(await verify()).toMatchObject({ records: 6, runs: 1, problems: [] });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('tells an edit', async () => {
    expect(await problemsAfter((lines) => lines.map((line) => line.replace('"n":2', '"n":9')))).toContain(
      'was changed',
    );
  });

  it('tells a deletion, an insertion and a changed order', async () => {
    expect(await problemsAfter((lines) => lines.toSpliced(2, 1))).toContain('does not follow');
    rmSync(path);
    expect(await problemsAfter((lines) => lines.toSpliced(2, 0, lines[2] ?? ''))).toContain('does not follow');
    rmSync(path);
    expect(await problemsAfter(([a = '', b = '', c = '', ...rest]) => [a, c, b, ...rest])).toContain('does not follow');
  });

  it.each([1, 3, 6])('tells that the last %d records are missing', async (missing) => {
    expect(await problemsAfter((lines) => lines.slice(0, -missing))).toContain('records are missing');
  });

  it('tells an old or a changed head', async () => {
    await written(3);
    const head = readdirSync(directory).find((name) => name.endsWith('.head')) ?? '';
    const text = readFileSync(join(directory, head), 'utf8');
    writeFileSync(join(directory, head), text.replace('"seq":3', '"seq":2'));
    expect((await verify()).problems[0]?.problem).toContain('was changed');
  });

  it('tells another key', async () => {
    await written(2);
    expect((await verify(Buffer.alloc(32, 8))).problems.length).toBeGreaterThan(0);
  });

  it('may be shared by processes, each with its own chain', async () => {
    await written(3);
    await written(3);
    expect(await verify()).toMatchObject({ records: 8, problems: [] });
  });

  it('goes on after a line that a crash tore, which is told', async () => {
    rewrite((await written(2)).slice(0, -1));
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"v":1,"chain`);
    await written(2);
    const report = await verify();
    expect(reportLines(report).join('\n')).toContain('line 3 is not a whole record');
  });

  it('keeps no secret that somebody typed, and no text that breaks a line', async () => {
    const audit = new ChainedAuditLog({ destination: { kind: 'file', path }, key: KEY });
    await audit.append(entry(1, { command: 'web --env=password=hunter22secret\n{"v":1}' }));
    await audit.close();
    expect(readFileSync(path, 'utf8')).not.toContain('hunter22secret');
    expect((await verify()).problems).toEqual([]);
  });

  it('refuses what it cannot keep', async () => {
    const audit = new ChainedAuditLog({ destination: { kind: 'file', path: join(directory, 'no', 'such') }, key: KEY });
    await expect(audit.append(entry(1))).rejects.toMatchObject({ code: 'audit_unavailable' });
  });
});

describe('records in the own log', () => {
  it('are verified among other lines', async () => {
    const lines: string[] = [JSON.stringify({ level: 'info', message: 'ready' })];
    const write = (audit: AuditRecord) => void lines.push(JSON.stringify({ level: 'info', message: 'audit', audit }));
    const audit = new ChainedAuditLog({ destination: { kind: 'log', write }, key: KEY });
    await audit.append(entry(1));
    await audit.append(entry(2));
    rewrite(lines);
    expect(await verify()).toMatchObject({ records: 3, problems: [] });
  });
});
