import { describe, expect, it } from 'vitest';
import { type Line, readLine, shown, wholeOf } from '../../../../src/core/command/line/line.ts';
import { tokenize } from '../../../../src/core/command/line/tokenize.ts';

function lineOf(text: string): Line {
  const split = tokenize(text);
  const line = split.kind === 'ok' ? readLine(split.words, text.length) : undefined;
  if (!line || 'code' in line) throw new Error(text);
  return line;
}

it.each(['-n shop', '-n=shop', '-nshop', '--namespace shop', '--namespace=shop', "-n 'shop'", '"--namespace=shop"'])(
  '%s gives the namespace shop',
  (text) => {
    expect(lineOf(`web ${text}`).flags.get('namespace')).toMatchObject([{ value: 'shop' }]);
  },
);

it('a value keeps its own columns and those of its flag', () => {
  const text = 'web --env=A=1 -n shop';
  const [env] = lineOf(text).flags.get('env') ?? [];
  const [namespace] = lineOf(text).flags.get('namespace') ?? [];
  expect(env && [text.slice(env.start, env.end), text.slice(wholeOf(env).start, wholeOf(env).end)]).toEqual([
    'A=1',
    '--env=A=1',
  ]);
  expect(namespace && text.slice(wholeOf(namespace).start, wholeOf(namespace).end)).toBe('-n shop');
});

it('a quoted value may begin with a hyphen', () => {
  expect(lineOf('web --reason "--all"').flags.get('reason')).toMatchObject([{ value: '--all' }]);
  expect(lineOf('web --reason "--" -- x').command).toMatchObject([{ text: 'x' }]);
});

it('words around the flags are kept apart from the command', () => {
  const line = lineOf('a -n b c -- d -n');
  expect(line.words.map((word) => word.text)).toEqual(['a', 'c']);
  expect(line.command?.map((word) => word.text)).toEqual(['d', '-n']);
  expect(line.separator).toMatchObject({ start: 9, end: 11 });
});

it('help counts only before the command', () => {
  expect(lineOf('web --help').help).toBe(true);
  expect(lineOf('web -h').help).toBe(true);
  expect(lineOf('web -- ls --help').help).toBe(false);
});

describe('a word in a sentence', () => {
  it('is on one line and at most 40 characters long', () => {
    expect(shown('a\nb')).toBe('"a b"');
    expect(shown('x'.repeat(40))).toBe(`"${'x'.repeat(40)}"`);
    expect(shown('x'.repeat(41))).toBe(`"${'x'.repeat(39)}…"`);
  });
});
