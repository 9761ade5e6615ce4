import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  appliedMessage,
  fieldProblems,
  manifestProblemsMessage,
} from '../../../../src/core/say/batch/manifest-message.ts';
import { textOf } from '../../../support/plain-message.ts';

const problem = (line: number, column: number, message = 'is required') => ({ line, column, message });

it('names each problem with its place, the first with a caret under it', () => {
  const message = manifestProblemsMessage([problem(2, 3, 'a.b is wrong'), problem(3, 1)], 'a:\n  b: 1\nc: 2\n');
  expect(message.parts).toContainEqual({ kind: 'preformatted', text: '  b: 1\n  ^' });
  expect(JSON.stringify(message.parts)).toMatch(/2:3 .*a\.b is wrong.*3:1 .*is required/);
  expect(message.code).toBe('manifest_invalid');
});

it('says how many more there are than it shows', () => {
  const problems = Array.from({ length: 14 }, (_, index) => problem(index + 1, 1));
  expect(textOf(manifestProblemsMessage(problems, 'a'))).toContain('and 4 more');
});

it('shows the part of a long line around the place', () => {
  const message = manifestProblemsMessage([problem(1, 500)], `${'x'.repeat(499)}!${'y'.repeat(500)}`);
  const shown = message.parts.find(({ kind }) => kind === 'preformatted');
  const [line = '', caret = ''] = shown?.kind === 'preformatted' ? shown.text.split('\n') : [];
  expect(line.charAt(caret.indexOf('^'))).toBe('!');
  expect(line.length).toBeLessThanOrEqual(120);
});

it('beside a field there are never more than 300 characters, and never a half line without a mark', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ line: fc.nat(), column: fc.nat(), message: fc.string({ maxLength: 400 }) }), {
        minLength: 1,
      }),
      (problems) => {
        const said = fieldProblems(problems);
        const [first] = problems;
        expect(said.length).toBeLessThanOrEqual(300);
        expect(said.startsWith(`${first?.line}:${first?.column} `)).toBe(true);
      },
    ),
  );
  expect(fieldProblems([problem(1, 2), problem(3, 4)])).toBe('1:2 is required\n3:4 is required');
  expect(fieldProblems([problem(1, 2, 'x'.repeat(400)), problem(3, 4)])).toMatch(/…\nand 1 more$/);
});

it('tells the notes of a job, and nothing where there are none', () => {
  expect(textOf(appliedMessage('audit', ['tty is left out']))).toContain('tty is left out');
  expect(appliedMessage('audit', []).parts).toHaveLength(1);
});
