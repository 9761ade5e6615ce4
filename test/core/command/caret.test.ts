import { expect, it } from 'vitest';
import { pointAt } from '../../../src/core/command/print.ts';

const at = (text: string, start: number, end: number): readonly string[] =>
  pointAt({ code: 'name_invalid', message: '', text, start, end }).split('\n');

it('carets stand under the wrong word', () => {
  expect(at('web --img=x -n shop', 4, 11)).toEqual(['web --img=x -n shop', '    ^^^^^^^']);
});

it('one caret behind the end shows where something is missing', () => {
  expect(at('show', 4, 4)).toEqual(['show', '    ^']);
});

it('an empty line has a caret too', () => {
  expect(at('', 0, 0)).toEqual(['', '^']);
});

it('line breaks and tabs take one column', () => {
  expect(at('a\n\tb', 3, 4)).toEqual(['a  b', '   ^']);
});

it('wide characters take two columns, combining marks none', () => {
  expect(at('日本 x', 3, 4)).toEqual(['日本 x', '     ^']);
  expect(at('e\u0301 x', 3, 4)).toEqual(['e\u0301 x', '  ^']);
  expect(at('😀 x', 3, 4)).toEqual(['😀 x', '   ^']);
});

it('a long line is cut around the wrong word', () => {
  const text = `${'a'.repeat(200)} wrong ${'b'.repeat(200)}`;
  const [line = '', carets = ''] = at(text, 201, 206);
  expect(line).toMatch(/^…a+ wrong b+…$/);
  expect(line.length).toBeLessThanOrEqual(76);
  expect(line.slice(carets.indexOf('^'), carets.length)).toBe('wrong');
});

it('the beginning of a long line stays when the wrong word is there', () => {
  const [line = '', carets] = at(`web ${'b'.repeat(200)}`, 0, 3);
  expect(line).toMatch(/^web b+…$/);
  expect(carets).toBe('^^^');
});

it('the end of a long line stays when something is missing there', () => {
  const text = 'a'.repeat(200);
  const [line = '', carets = ''] = at(text, 200, 200);
  expect(line).toMatch(/^…a+$/);
  expect(carets.length).toBe(line.length + 1);
});

it.each([0, 60, 70, 80, 200])('no line is wider than 76 columns, whatever is wrong from column %i on', (start) => {
  for (const end of [start, start + 1, start + 10, 300]) {
    for (const line of at('x'.repeat(300), start, end)) expect(line.length).toBeLessThanOrEqual(76);
  }
});

it('no character is halved by the cut', () => {
  for (let start = 100; start < 110; start += 1)
    expect(at('😀'.repeat(200), start, start + 1).join('')).not.toMatch(/\p{Surrogate}/u);
});
