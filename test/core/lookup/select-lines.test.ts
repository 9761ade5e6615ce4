import { describe, expect, it } from 'vitest';
import { type LineSelection, LineSelector } from '../../../src/core/lookup/select-lines.ts';

function selected(text: string, selection: Partial<LineSelection> = {}, chunkBytes = 1_000_000) {
  const selector = new LineSelector({ tail: 100, maxBytes: 100_000, ...selection });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) selector.push(bytes.subarray(at, at + chunkBytes));
  return selector.end();
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n');

describe('the lines of a log', () => {
  it('are all there when nothing is left out', () => {
    expect(selected('a\nb\n\nc')).toEqual({ text: 'a\nb\n\nc', lines: 4, matching: 4, total: 4 });
    expect(selected('')).toEqual({ text: '', lines: 0, matching: 0, total: 0 });
  });

  it('are the last ones, and all are counted', () => {
    expect(selected(numbered(5_000), { tail: 2 })).toEqual({
      text: 'line 4999\nline 5000',
      lines: 2,
      matching: 5_000,
      total: 5_000,
    });
  });

  it('stay within the bytes', () => {
    const { text, lines, matching } = selected(numbered(5_000), { tail: 5_000, maxBytes: 30 });
    expect(text).toBe('line 4998\nline 4999\nline 5000');
    expect([lines, matching]).toEqual([3, 5_000]);
  });

  it.each([1, 2, 3, 7])('are those with a literal in any case, in chunks of %i bytes', (chunkBytes) => {
    const text = 'An Errör here\nnothing\nerr\nERRÖR.*\n';
    expect(selected(text, { grep: 'errÖr' }, chunkBytes)).toMatchObject({
      text: 'An Errör here\nERRÖR.*',
      matching: 2,
      total: 4,
    });
    expect(selected(text, { grep: '.*' }, chunkBytes).text).toBe('ERRÖR.*');
  });

  it('are found by their far end as well, and cut for showing', () => {
    const long = `${'x'.repeat(200_000)}needle`;
    const { text, matching } = selected(`${long}\nshort\n`, { grep: 'NEEDLE' }, 999);
    expect(matching).toBe(1);
    expect(text.length).toBe(4_097);
    expect(text.endsWith('…')).toBe(true);
  });

  it('end before a line with the mark', () => {
    expect(selected('a\n-----BEGIN\n{}\n-----END\n', { until: '-----BEGIN' })).toMatchObject({ text: 'a', total: 1 });
    expect(selected('a -----BEGIN\nb\n', { until: '-----BEGIN' }).lines).toBe(2);
  });

  it('begin where the time begins', () => {
    const selector = new LineSelector({ tail: 10, maxBytes: 1_000 });
    selector.push(Buffer.from('old\n'));
    selector.startHere();
    selector.push(Buffer.from('new\n'));
    expect(selector.end()).toEqual({ text: 'new', lines: 1, matching: 1, total: 1 });
  });
});
