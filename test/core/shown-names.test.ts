import { describe, expect, it } from 'vitest';
import { cleanText } from '../../src/core/redact/clean-text.ts';
import { BOT, COMMAND, isCommandName, withNames } from '../../src/core/shown-names.ts';
import { visible } from '../../src/lib/invisible.ts';

const NAMES = { command: '/kdebug-staging', bot: '@debugger' };

describe('the names', () => {
  it('stand in every text, however deep, and everything else stays', () => {
    const complete = (): string => COMMAND;
    const shown = { spans: [{ kind: 'code', text: `${COMMAND} help` }], hint: `/invite ${BOT}`, tone: undefined };
    expect(withNames({ ...shown, atMs: 5, isPrivate: true, complete }, NAMES)).toEqual({
      spans: [{ kind: 'code', text: '/kdebug-staging help' }],
      hint: '/invite @debugger',
      tone: undefined,
      atMs: 5,
      isPrivate: true,
      complete,
    });
  });

  it('leave alone what people and clusters write of them', () => {
    const line = 'GET /kdebug 404 by @kdebug $& $1';
    expect(withNames({ text: line }, NAMES)).toEqual({ text: line });
    expect(withNames(`${COMMAND} ${line}`, { ...NAMES, command: '/$&' })).toBe(`/$& ${line}`);
  });

  it.each([COMMAND, BOT])(
    'have a place that no text of another takes: an approver sees it, a log loses it',
    (marker) => {
      expect(visible(`a${marker}b`)).toMatch(/^a\\u\{FFF[01]\}b$/);
      expect(cleanText(`a${marker}b`)).toBe('ab');
    },
  );
});

it.each(['/kdebug', '/kdebug-staging', '/k2_d', `/${'k'.repeat(31)}`])('%s is the name of a command', (name) => {
  expect(isCommandName(name)).toBe(true);
});

it.each(['', '/', 'kdebug', '/Kdebug', '/k debug', '/k/d', '/k\n', '/<!channel>', '/é', `/${'k'.repeat(32)}`])(
  '%j is no name of a command',
  (name) => {
    expect(isCommandName(name)).toBe(false);
  },
);
