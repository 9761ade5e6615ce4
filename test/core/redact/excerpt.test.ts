import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createExcerpt, type ExcerptText } from '../../../src/core/redact/excerpt.ts';
import { REPORT_BEGIN, REPORT_END } from '../../../src/core/report-marks.ts';
import { inFullOr } from '../../support/sample.ts';

const OPTIONS = { headLines: 2, tailLines: 3, maxBytes: 200 };

function excerptOf(log: string, options = OPTIONS, chunkSize = 7): ExcerptText {
  const excerpt = createExcerpt(options);
  const bytes = Buffer.from(log);
  for (let at = 0; at < bytes.length; at += chunkSize) excerpt.push(bytes.subarray(at, at + chunkSize));
  return excerpt.finish();
}

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');

it('is all of a short log', () => {
  expect(excerptOf(lines(1, 5))).toEqual({
    head: lines(1, 5).trimEnd(),
    tail: '',
    omittedLines: 0,
    lines: 5,
    bytes: 35,
  });
  expect(excerptOf('')).toEqual({ head: '', tail: '', omittedLines: 0, lines: 0, bytes: 0 });
  expect(excerptOf('no newline')).toMatchObject({ head: 'no newline', lines: 1 });
});

it('is the first and the last lines of a long log, and how many lie between', () => {
  expect(excerptOf(lines(1, 1000))).toMatchObject({
    head: 'line 1\nline 2',
    tail: 'line 998\nline 999\nline 1000',
    omittedLines: 995,
    lines: 1000,
  });
});

it('cuts long lines, marks the cut and counts them as not shown', () => {
  const cut = excerptOf(`${'a'.repeat(500)}\n${'b'.repeat(500)}`);
  expect(cut).toMatchObject({ omittedLines: 2, lines: 2 });
  expect(cut.head).toMatch(/^a+…$/);
  expect(cut.tail).toMatch(/^…b+$/);
  expect(excerptOf('x'.repeat(1000))).toMatchObject({ omittedLines: 1, lines: 1 });
});

it.each(['👩‍👩‍👧‍👦', 'e\u0301', '한', '日'])('never splits %s', (cluster) => {
  for (let shift = 0; shift < 32; shift++) {
    const { head, tail } = excerptOf(`${'-'.repeat(shift)}${cluster.repeat(300)}`);
    expect(head.replace(/^-*/, '').replace(/…$/, '').replaceAll(cluster, '')).toBe('');
    expect(tail.replace(/^…/, '').replaceAll(cluster, '')).toBe('');
  }
});

it('stays within its bytes and shows only what the log holds', () => {
  const part = fc.constantFrom('a', 'bb ', '\n', '日本', '👩‍👩‍👧‍👦', 'e\u0301\u0302', 'a longer piece of text, ');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 120 }), fc.integer({ min: 20, max: 120 }), (parts, maxBytes) => {
      const log = parts.join('');
      const { head, tail, omittedLines, lines: count } = excerptOf(log, { ...OPTIONS, maxBytes });
      expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(maxBytes);
      expect(log.startsWith(head.replace(/…$/, ''))).toBe(true);
      expect(log.replace(/\n$/, '').endsWith(tail.replace(/^…/, ''))).toBe(true);
      expect(omittedLines).toBeGreaterThanOrEqual(0);
      expect(omittedLines).toBeLessThanOrEqual(count);
      if (omittedLines === 0) expect(head).toBe(log.replace(/\n$/, ''));
    }),
    { numRuns: inFullOr(1_000, 200) },
  );
});

it('shows the last lines while the log grows', () => {
  const excerpt = createExcerpt(OPTIONS);
  expect(excerpt.tail(3)).toBe('');
  excerpt.push(Buffer.from('one\ntwo\nthr'));
  expect(excerpt.tail(2)).toBe('two\nthr');
  excerpt.push(Buffer.from('ee\n'));
  expect(excerpt.tail(2)).toBe('two\nthree');
  excerpt.push(Buffer.from('x'.repeat(100_000)));
  expect(Buffer.byteLength(excerpt.tail(1))).toBeLessThanOrEqual(200);
});

it('hides nothing of a log that only holds the marks of a report', () => {
  const excerpt = createExcerpt(OPTIONS);
  excerpt.push(Buffer.from(`one\n${REPORT_BEGIN}\ntwo\n`));
  expect(excerpt.tail(1)).toBe('two');
  const named = createExcerpt(OPTIONS);
  named.push(Buffer.from(`a file called ${REPORT_BEGIN}\nthree\n`));
  expect(named.tail(1, true)).toBe('three');
});

it('shows the lines before a report for machines, however much of it is there and however long it is', () => {
  const report = `\n${REPORT_BEGIN}\n{"kdebug":1,"x":"${'y'.repeat(15_900)}"}\n${REPORT_END}\n`;
  const excerpt = createExcerpt(OPTIONS);
  excerpt.push(Buffer.from(lines(1, 2_000)));
  for (let at = 0; at < report.length; at += 1_500) {
    excerpt.push(Buffer.from(report.slice(at, at + 1_500)));
    expect(excerpt.tail(3, true).trimEnd()).toBe('line 1999\nline 2000');
  }
});

it('gives the end of the log for a report in it', () => {
  const excerpt = createExcerpt(OPTIONS);
  excerpt.push(Buffer.from('日'.repeat(100_000)));
  excerpt.push(Buffer.from('END'));
  expect(excerpt.end()).toMatch(/^日+END$/);
  expect(Buffer.byteLength(excerpt.end())).toBeLessThanOrEqual(16 * 1024);
});
