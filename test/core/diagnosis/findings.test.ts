import { describe, expect, it } from 'vitest';
import { FINDINGS, findingRule, ordered, shown } from '../../../src/core/diagnosis/findings.ts';
import { CLUSTER_RULES } from '../../../src/core/diagnosis/look-at-cluster.ts';

describe('the table of findings', () => {
  it('has every code once, and finds it again', () => {
    expect(new Set(FINDINGS.map(({ code }) => code)).size).toBe(FINDINGS.length);
    for (const rule of FINDINGS) expect(findingRule(rule.code)).toBe(rule);
    expect(findingRule('toString')).toBeUndefined();
  });

  it.each(FINDINGS)('says of $code what it means, one next step, and where its threshold comes from', (rule) => {
    expect(rule.code).toMatch(/^[a-z][a-z0-9_]{2,39}$/);
    expect(rule.means).toMatch(/^.{20,200}\.$/);
    expect(rule.next).toMatch(/^[A-Z].{10,200}[.?]$/);
    expect(rule.source.length).toBeGreaterThan(10);
    if (rule.threshold !== undefined) expect(rule.unit).toBeTruthy();
  });
});

describe('the rows of the API and the logs', () => {
  it.each(CLUSTER_RULES)(
    'say of $code what is read, and explain codes that exist',
    ({ code, reads, explains, replaces }) => {
      expect(reads).toMatch(/^.{5,120}$/);
      for (const other of [...(explains ?? []), ...(replaces ?? [])]) {
        expect(findingRule(other), other).toBeDefined();
        expect(other).not.toBe(code);
      }
    },
  );

  it.each(['explains', 'replaces'] as const)('never come back to themselves by what each %s', (by) => {
    const effects = new Map(CLUSTER_RULES.map((rule) => [rule.code, rule[by] ?? []]));
    const reached = (from: string, seen: ReadonlySet<string>): readonly string[] =>
      (effects.get(from) ?? []).flatMap((code) =>
        seen.has(code) ? [code] : [code, ...reached(code, new Set([...seen, code]))],
      );
    for (const code of effects.keys()) expect(reached(code, new Set()), code).not.toContain(code);
  });

  it('send nobody to what a reader of Slack does not have', () => {
    for (const { next, means } of CLUSTER_RULES) {
      expect(`${next} ${means}`).not.toMatch(/kubectl|check (its|the) events|describe pod|the message lists/i);
    }
  });
});

describe('the order', () => {
  const codes = (...findings: Parameters<typeof ordered>[0]) => ordered(findings).map(({ code }) => code);
  const finding = (code: string, parts = {}) => ({ code, text: code, ...parts });

  it.each([
    ['deadlock', 'lock_queue'],
    ['busy_thread', 'waits_for_cpu'],
    ['cpu_near_limit', 'cpu_throttled'],
  ])(
    'has %s before %s, which is the same seen from outside, however far that exceeds its threshold',
    (first, second) => {
      expect(codes(finding(second, { value: 1_000_000 }), finding(first, { value: 1 }))).toEqual([first, second]);
    },
  );

  it('has the cause before its effect, whatever their ranks', () => {
    expect(codes(finding('probe_failing'), finding('log_errors', { rank: 2, explains: ['probe_failing'] }))).toEqual([
      'log_errors',
      'probe_failing',
    ]);
    expect(codes(finding('not_scheduled'), finding('claim_unbound', { rank: 2 }))).toEqual([
      'claim_unbound',
      'not_scheduled',
    ]);
  });

  it('leaves out what another says better, of the same container or of the whole pod', () => {
    const loop = finding('crash_loop', { containerName: 'web' });
    expect(codes(loop, finding('probe_failing', { containerName: 'web' }), finding('not_ready'))).toEqual([
      'crash_loop',
    ]);
    expect(codes(loop, finding('probe_failing', { containerName: 'proxy' }))).toEqual(['crash_loop', 'probe_failing']);
  });

  it('lets what is only worth knowing explain nothing that is wrong', () => {
    expect(codes(finding('init_waiting', { rank: 3 }), finding('not_ready'))).toEqual(['not_ready', 'init_waiting']);
  });

  it('has what an image finds before the effects that the API shows, and hints only where nothing is wrong', () => {
    const found = codes(
      finding('probe_failing'),
      finding('deadlock'),
      finding('no_memory_limit'),
      finding('crash_loop', { containerName: 'x' }),
    );
    expect(found).toEqual(['crash_loop', 'deadlock']);
    expect(codes(finding('probe_failing', { containerName: 'y' }), finding('deadlock'))).toEqual([
      'deadlock',
      'probe_failing',
    ]);
    expect(codes(finding('no_memory_limit'))).toEqual(['no_memory_limit']);
  });

  it('has what the threads show before what the sockets show, however long these wait', () => {
    const waits = finding('answer_missing', { value: 60, threshold: 5 });
    expect(codes(waits, finding('pool_waits', { value: 8, threshold: 4 }))).toEqual(['pool_waits', 'answer_missing']);
  });

  it('shows a finding whole up to 300 characters', () => {
    expect(shown(finding('crash_loop', { text: 'x'.repeat(300) })).text).toHaveLength(300);
    expect(shown(finding('crash_loop', { text: 'x'.repeat(301) })).text).toHaveLength(300);
  });
});
