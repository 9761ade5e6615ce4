import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReport } from '../../../../src/core/diagnosis/facts/report.ts';

const parse = (parts: object = {}) => parseReport(JSON.stringify({ kdebug: 1, verdict: 'all is well', ...parts }));

describe('parseReport', () => {
  it('reads every field of version 1', () => {
    const report = {
      verdict: 'one finding',
      tool: { name: 'autodiagnose', version: '0.2.0' },
      self: { uid: 65532, gid: 0, capabilities: ['SYS_PTRACE'] },
      target: { pid: 1, uid: 65532, gid: 0, effective: true, name: 'java', capabilities: [] },
      findings: [{ code: 'close_wait', value: 214, threshold: 100, text: 't', next: 'n', section: 'sockets' }],
      sections: [
        { name: 'sockets', state: 'finding', text: 's' },
        { name: 'tls', state: 'not-looked-at', text: 'no endpoints' },
        { name: 'memory', state: 'not-readable', text: '', lacks: 'ptrace access', helps: ['identity', 'general'] },
      ],
      cost: { milliseconds: 3412, cpuMilliseconds: 410, memoryBytes: 2310144 },
      unsure: true,
      sampleSeconds: 3,
      series: [
        {
          text: 'CPU in use',
          unit: 'millicores',
          section: 'cpu',
          limit: 500,
          points: [
            [300, 12],
            [600, 500],
            [900, 40],
          ],
        },
      ],
    };
    expect(parse(report)).toEqual(report);
  });

  it('needs nothing but the version and a verdict', () => {
    expect(parse()).toEqual({ verdict: 'all is well', findings: [], sections: [] });
  });

  it.each([
    ['nothing', ''],
    ['plain words', 'Completed'],
    ['another version', '{"kdebug":2,"verdict":"x"}'],
    ['no verdict', '{"kdebug":1,"verdict":7}'],
    ['a list', '[1]'],
    ['null', 'null'],
    ['more than 64 KiB', JSON.stringify({ kdebug: 1, verdict: 'x', rest: 'y'.repeat(65_536) })],
    ['brackets without end', `{"kdebug":1,"verdict":"x","a":${'['.repeat(60_000)}`],
  ])('is undefined for %s', (_, text) => {
    expect(parseReport(text)).toBeUndefined();
  });

  it('leaves out findings that are not of the form, and bounds the rest', () => {
    const wrong = [{ code: 1, text: 'x' }, { code: 'UPPER', text: 'x' }, 'x', null, { code: 'a' }];
    const many = Array.from({ length: 50 }, () => ({ code: 'c', text: 't'.repeat(500) }));
    const findings = parse({ findings: [...wrong, ...many] })?.findings;
    expect(findings).toHaveLength(15);
    expect(findings?.[0]?.text).toHaveLength(300);
  });

  it('keeps of a hint only what it knows, once', () => {
    const section = { name: 'memory', state: 'not-readable', helps: ['identity', 'root', 7, 'identity', 'general'] };
    expect(parse({ sections: [section] })?.sections[0]?.helps).toEqual(['identity', 'general']);
    expect(parse({ sections: [{ ...section, helps: 'identity' }] })?.sections[0]?.helps).toBeUndefined();
  });

  it.each([-1, 1.5, 2_147_483_648, '0', null, Number.NaN])('takes no %s for a user id', (uid) => {
    expect(parse({ target: { uid, gid: uid, effective: true } })?.target).toEqual({ effective: true });
    expect(parse({ self: { uid, gid: 0, capabilities: [] } })?.self).toBeUndefined();
  });

  it('takes no words for capabilities', () => {
    const self = { uid: 0, gid: 0, capabilities: ['SYS_PTRACE', '<!channel>', 'sys admin', 7] };
    expect(parse({ self })?.self?.capabilities).toEqual(['SYS_PTRACE']);
  });

  it('makes one clean line of every text', () => {
    const finding = { code: 'a', text: 'one\n\u001b[31mtwo\u0007 three\ud800' };
    expect(parse({ findings: [finding] })?.findings[0]?.text).toBe('one two three\ufffd');
  });

  it('never throws, whatever stands where', () => {
    const anything = fc.record(
      {
        tool: fc.jsonValue(),
        self: fc.jsonValue(),
        target: fc.jsonValue(),
        findings: fc.jsonValue(),
        sections: fc.jsonValue(),
        cost: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(anything, (parts) => {
        expect(parse(parts)?.verdict).toBe('all is well');
      }),
    );
  });
});
