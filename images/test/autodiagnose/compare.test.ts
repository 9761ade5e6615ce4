import { afterEach, describe, expect, it } from 'vitest';
import type { PodFact } from '../../../src/core/compare/facts.ts';
import { canLook, diagnose, diagnosisOf } from './script.ts';
import { cleanUp, IDLE, startTarget } from './targets.ts';

const KEY = 'abcdefghijklmnopqrstuvwxyz';

async function factsOf(pid: number | undefined, env: Readonly<Record<string, string>>) {
  const report = await diagnose({ AUTODIAGNOSE_PID: String(pid), AUTODIAGNOSE_PEERS: '0', ...env });
  expect(report.err).toBe('');
  return { report, facts: diagnosisOf(report).facts?.facts };
}

const named = (facts: readonly PodFact[] | undefined, group: string) =>
  new Map(facts?.flatMap((fact) => (fact.group === group ? [[fact.name, fact.value]] : [])));

describe.skipIf(!canLook)('the facts for a comparison', () => {
  afterEach(cleanUp);

  it('tell variables by a hash, sockets and limits by their values', async () => {
    const { pid } = await startTarget(IDLE);
    const { report, facts } = await factsOf(pid, { KDEBUG_COMPARE: KEY });
    expect(named(facts, 'env').get('PATH')).toMatch(/^#[0-9a-f]{4}$/);
    expect(named(facts, 'command').get('')).toMatch(/^#[0-9a-f]{4}$/);
    expect(named(facts, 'sockets').get('CLOSE_WAIT')).toBe(0);
    expect(named(facts, 'limit').get('open files')).toMatch(/^(\d+|unlimited)$/);
    expect([...named(facts, 'program').keys()]).toContain('node');
    expect(report.out).not.toContain(KEY);
    expect(report.message).not.toContain('"facts"');
  });

  it('are equal for equal processes under one key, and not under another', async () => {
    const [one, other] = [await startTarget(IDLE), await startTarget(IDLE)];
    const ofOne = await factsOf(one.pid, { KDEBUG_COMPARE: KEY });
    const ofOther = await factsOf(other.pid, { KDEBUG_COMPARE: KEY });
    const again = await factsOf(one.pid, { KDEBUG_COMPARE: `${KEY}2` });
    expect(named(ofOther.facts, 'env')).toEqual(named(ofOne.facts, 'env'));
    expect(named(again.facts, 'env').get('PATH')).not.toBe(named(ofOne.facts, 'env').get('PATH'));
  });

  it('are not there unless kdebug asks for them', async () => {
    const { pid } = await startTarget(IDLE);
    expect((await factsOf(pid, {})).facts).toBeUndefined();
  });
});
