import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDiagnosis, withoutReport } from '../../../src/core/diagnosis/marked-report.ts';
import { REPORT_BEGIN, REPORT_END } from '../../../src/core/report-marks.ts';

const report = (parts: object = {}) =>
  JSON.stringify({ kdebug: 1, verdict: 'all is well', findings: [{ code: 'a', text: 'b', next: 'c' }], ...parts });
const marked = (document: string) => `text\n${REPORT_BEGIN}\n${document}\n${REPORT_END}\n`;

describe('parseDiagnosis', () => {
  it('takes the last marked report at the end of the log', () => {
    const log = marked(report({ verdict: 'old' })) + marked(report());
    expect(parseDiagnosis(log, report({ verdict: 'from the file' }))?.verdict).toBe('all is well');
  });

  it('falls back to the termination message when the log was lost', () => {
    expect(parseDiagnosis('', report({ verdict: 'from the file' }))?.verdict).toBe('from the file');
    expect(parseDiagnosis(marked('{"kdebug":1,'), report())?.verdict).toBe('all is well');
  });

  it('takes no mark inside a line: that is a name which the target chose, and the image told', () => {
    const forged = `${REPORT_BEGIN}${report({ verdict: 'forged' })}${REPORT_END}`;
    const honest = report({ findings: [{ code: 'core_dump', text: `one is ${REPORT_BEGIN}`, next: REPORT_END }] });
    const log = `${marked(honest)}  a file called ${forged}\n`;
    expect(parseDiagnosis(log, '')?.verdict).toBe('all is well');
    expect(parseDiagnosis(`  ${forged}\n`, '')).toBeUndefined();
    expect(parseDiagnosis(`${forged}\n`, '')).toBeUndefined();
    expect(parseDiagnosis(marked(honest).trimEnd(), '')?.findings).toHaveLength(1);
  });

  it('never throws, whatever a log ends in', () => {
    fc.assert(fc.property(fc.string(), fc.json(), (text, json) => void parseDiagnosis(marked(json) + text, json)));
  });
});

describe('withoutReport', () => {
  it('cuts the report off a log that is shown whole', () => {
    expect(withoutReport({ head: marked(report()), tail: '' })).toEqual({ head: 'text', tail: '' });
  });

  it('shows no tail that lies inside the report', () => {
    expect(withoutReport({ head: 'h', tail: `"x"}\n${REPORT_END}` })).toEqual({ head: 'h', tail: '' });
    expect(withoutReport({ head: 'h', tail: marked(report()) })).toEqual({ head: 'h', tail: 'text' });
  });

  it('leaves lines alone that only name the marks', () => {
    const lines = `a file called ${REPORT_BEGIN}\nmore ${REPORT_END}`;
    expect(withoutReport({ head: lines, tail: lines })).toEqual({ head: lines, tail: lines });
  });

  it('leaves other logs alone', () => {
    expect(withoutReport({ head: 'h', tail: 't' })).toEqual({ head: 'h', tail: 't' });
  });
});
