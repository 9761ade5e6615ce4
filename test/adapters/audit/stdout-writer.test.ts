import { describe, expect, it } from 'vitest';
import { createAuditLog } from '../../../src/adapters/audit/index.ts';
import { createMetrics } from '../../../src/adapters/metrics/index.ts';
import { verifyChain } from '../../../src/core/audit/verify.ts';
import type { AuditEntry, Log } from '../../../src/flow/ports/machine.ts';
import { fileOf, KEY, SEALING_KEY } from '../../core/audit/chain-of.ts';
import { START_MS } from '../../support/builders.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { samplesOf } from '../../support/metric-lines.ts';

const entry = (n: number, command: string): AuditEntry => ({
  step: 'decision',
  atMs: START_MS + n,
  runId: `run${n}`,
  channelId: 'C0SHOP',
  actorId: 'U0ROY',
  facts: { command },
});

async function opened(write: (text: string) => void) {
  const said: string[] = [];
  const note = (message: string): void => void said.push(message);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const destination = { kind: 'stdout', write } as const;
  const clock = new FakeClock();
  const metrics = createMetrics({ clock, ofProcess: false });
  const audit = await createAuditLog({ destination, key: SEALING_KEY, owner: 'bot-1', log, clock, metrics });
  return { audit, said, metrics };
}

const verify = (lines: readonly string[]) =>
  verifyChain(fileOf(Buffer.from(lines.join(''))), { key: KEY, form: 'stream' });

describe('an audit log on standard output', () => {
  it('is a line of the own log for each record, and is verified among the other lines', async () => {
    const lines: string[] = ['{"level":"info","time":"x","message":"ready"}\n'];
    const { audit } = await opened((text) => void lines.push(text));
    await audit.append(entry(1, 'a\nb'));
    await audit.close();
    const all = lines
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(all.map(({ message }) => message)).toEqual(['ready', 'audit', 'audit', 'audit']);
    const time = '2026-11-21T07:30:00.001Z';
    expect(all[2]).toMatchObject({ level: 'info', time, audit: { at: time, step: 'decision', seq: 1 } });
    const verdict = await verify(lines);
    expect(verdict).toMatchObject({ records: 3, notes: [] });
    expect(verdict.defect).toBeUndefined();
  });

  it('refuses what it cannot write, and goes on without a gap', async () => {
    let full = false;
    const lines: string[] = [];
    const { audit, said, metrics } = await opened((text) => {
      if (full) throw new Error('ENOSPC');
      lines.push(text);
    });
    full = true;
    await expect(audit.append(entry(1, 'one'))).rejects.toMatchObject({ code: 'audit_unavailable' });
    expect(await samplesOf(metrics, 'audit_failures')).toEqual(['audit_failures_total 1']);
    full = false;
    const written = audit.append(entry(2, 'two'));
    expect(await samplesOf(metrics, 'queue_length')).toEqual(['queue_length{queue="audit"} 1']);
    await written;
    await audit.close();
    expect((await verify(lines)).defect).toBeUndefined();
    expect(said).toEqual(['could not write audit log', 'audit log is writable again']);
  });
});
