import { expect, it } from 'vitest';
import { createLogFilter } from '../../../src/core/redact/log-filter.ts';
import { problemOfPattern } from '../../../src/lib/patterns/linear-pattern.ts';

const filtered = (line: string, ...redact: readonly string[]): string => {
  const filter = createLogFilter({ redact });
  return Buffer.concat([filter.push(Buffer.from(`${line}\n`)), filter.end()]).toString();
};

/** A line over which the engine of JavaScript does not end before this test does. */
it.each([
  ['Xq7=(?:a|a)+$', 'Xq7=', 'a', '!'],
  ['ticket-(?:[a-z]|[a-z0-9])+;', 'ticket-', 'a', '!'],
  ['^ID: (?:[0-9]|[0-9a-f])+$', 'ID: ', '1', '!'],
  ['card (?:\\d|\\d\\d)+ end', 'card ', '1', '! end'],
  ['pin(?:\\d{1,3}){1,40}x', 'pin', '1', '!x'],
  ['u(?:ab|a|b)+Z', 'u', 'ab', '!Z'],
  ['(?:a|a)+$', '', 'a', '!'],
  ['(?:[a-z]|[a-z0-9])+;', '', 'a', '!;'],
  ['(?:\\w{1,9}){1,9}!', '', 'a', '?!'],
  ['\\w+;', '', 'a', '!;'],
])('a long line cannot hold up %s', (source, start, repeated, end) => {
  expect(problemOfPattern(source)).toBeUndefined();
  const line = `${start}${repeated.repeat(30_000 / repeated.length)}${end}`;
  expect(filtered(line, source)).toBe(`${line}\n`);
});

it.each([
  ['CUST-\\d{6}', 'a CUST-123456, CUST-654321', 'a [redacted:custom], [redacted:custom]'],
  ['\\bid=(.*?);', 'id=a;b; id=c;', '[redacted:custom]b; [redacted:custom]'],
  ['(?i)cust-\\d', 'Cust-1', '[redacted:custom]'],
  ['ab|a', 'aab', '[redacted:custom]'],
  ['^x|y$', 'xyxy', '[redacted:custom]yx[redacted:custom]'],
  ['\\b', 'a b', 'a b'],
  ['\u{1f600}+', 'a \u{1f600}\u{1f600} b', 'a [redacted:custom] b'],
  ['c\\d', 'à c1 ç c2', 'à [redacted:custom] ç [redacted:custom]'],
  ['cust-\\d', 'ｃｕｓｔ-1', '[redacted:custom]'],
])('replaces what %s matches in %j', (source, line, expected) => {
  expect(filtered(line, source)).toBe(`${expected}\n`);
});

it('takes ^ and $ for the ends of each line, in a block of many', () => {
  expect(filtered('xa\nax\nx\nbx', '^x$', 'b')).toBe('xa\nax\n[redacted:custom]\n[redacted:custom]x\n');
});

it('hides the rest of a line in which a pattern reads far beyond each of its many matches', () => {
  const line = 'a '.repeat(15_000);

  const result = filtered(line, 'a(?:.*b)?');

  expect(result).toMatch(/^(?:\[redacted:custom\] )+\[redacted:custom\]\n$/);
  expect(result.split(' ').length).toBeLessThan(200);
});

it('replaces each of many matches in a line of ordinary length', () => {
  expect(filtered('a '.repeat(300), 'a(?:.*b)?')).toBe(`${'[redacted:custom] '.repeat(300)}\n`);
  const ids = 'id=4711 CUST-123456 '.repeat(1_000);
  const shown = filtered(ids, 'CUST-\\d{6}');
  expect(shown).toBe(`${'id=4711 [redacted:custom] '.repeat(1_000)}\n`);
});
