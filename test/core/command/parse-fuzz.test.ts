import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HUGE_COMMANDS } from '../../../bench/growth/commands.ts';
import { textOf } from '../../../bench/growth/slow-texts.ts';
import { random } from '../../../bench/random.ts';
import { parseCommand } from '../../../src/core/command/parse.ts';
import { printCommand } from '../../../src/core/command/print.ts';
import { REASONS } from '../../../src/core/errors.ts';
import type { ParsedCommand } from '../../../src/core/request/command.ts';
import { anyCharacter } from '../../support/any-text.ts';
import { inFullOr } from '../../support/sample.ts';

/** Throws when what was read is not well formed or does not survive printing. */
function check(input: string, parsed: ParsedCommand): void {
  if (parsed.kind === 'error') {
    const { code, text, start, end } = parsed.error;
    if (!(code in REASONS) || start < 0 || end < start || end > text.length)
      throw new Error(`bad error: ${JSON.stringify(input)}`);
    return;
  }
  const again = parseCommand(printCommand(parsed.command));
  // A note is on the words, and not a part of the command.
  const { notes: _, ...read } = parsed;
  if (JSON.stringify(again) !== JSON.stringify(read)) throw new Error(`not stable: ${JSON.stringify(input)}`);
}

/** Whole numbers below a bound, the same ones for a seed. */
function numbersFrom(seed: number): (bound: number) => number {
  const draw = random(seed);
  return (bound) => Math.floor(draw() * bound);
}

const TARGETS = [
  'web-1',
  'pod/list',
  'deploy/web',
  '--all',
  '-l app=web',
  "-l 'tier in (a,b)'",
  'nginx',
  'web',
  'Web',
  '../x',
  'web web',
  'shop/web-1',
  '`web-1`',
  '*web-1*',
  '`web-1',
  'kdebug',
  'kubectl debug web-1',
  '/kdebug web-1',
  'kdebug web-1',
];
const WORDS = [
  ...[
    '-n shop',
    '--namespace=shop',
    '-n',
    '--cluster=prod',
    '--target=neato',
    '--no-target',
    '-c x',
    '--image=debian:12',
    '--image debian',
  ],
  ...[
    '--image=<http://r.example.com/a|r.example.com/a>',
    '—image=x',
    '–n shop',
    '--env=A=1',
    "--env='B=x y'",
    '--env=C=“d”',
    '--profile=general',
  ],
  ...[
    '--profile auto',
    '--image-pull-policy=Never',
    '--arguments-only',
    '--timeout=5m',
    '--timeout 1h30m',
    '--reason="it hangs"',
    '--reason=“don’t”',
  ],
  ...[
    "--reason='&amp;amp;'",
    '--dry-run',
    '--replicas=3',
    '--parallelism=8',
    '--ttl=30m',
    '--canary',
    '--img',
    '-it',
    '--help',
  ],
  ...['`--image=debian', '`-n shop`', '--image=`debian`', '_x_', '~', '`', '--tty=false', '-i'],
  ...['pause', 'cancel', 'abcdefgh23', '\u00a0', '\u200b', '\n', '\\', "''"],
];
const VERBS = [
  'help',
  'list',
  'show',
  'logs',
  'stop',
  'rerun',
  'describe',
  'images',
  'whoami',
  'can-i',
  'batch',
  'apply',
  'Apply\n',
  'apply```',
];
const TAILS = [
  ...[
    '',
    '',
    '',
    ' -- ls',
    ' -- sh -c "echo $HOME && id"',
    " -- 'a b' c\\ d",
    ' — cat',
    ' -- &lt;@U1|x&gt; &amp;lt;',
    " -- it's",
    ' -- “a’',
    ' --',
  ],
  ...[' -- `ls -l`', ' -- `ls` `x`', ' -- cat `', '`', '*'],
  ...['\nkind: “x”\n—-\n', ' -- 😀 \ud83d \u202e', " -- '—' \"\\\"\" '\\' -- --"],
];
const CHARACTERS = [
  ...'ab-n=:/.,"\'\\ \t\n“”‘’—–<>&;|@#$()`*~A0é日\u00a0\u200d\u202e\u0000',
  '\ud83d',
  '\ude00',
  '😀',
  '&amp;',
  '&lt;',
  '<@U1>',
  '--',
  '```',
  '`',
  '_',
  '•',
  'kdebug ',
];

type Pick = (bound: number) => number;
const one = (list: readonly string[], pick: Pick): string => list[pick(list.length)] ?? '';

function sentence(pick: Pick): string {
  let line = pick(4) === 0 ? `${one(VERBS, pick)} ` : '';
  if (pick(3) > 0) line += one(TARGETS, pick);
  for (let count = pick(5); count > 0; count -= 1) line += ` ${one(WORDS, pick)}`;
  return line + one(TAILS, pick);
}

function noise(pick: Pick): string {
  let line = '';
  for (let count = pick(24); count > 0; count -= 1) line += one(CHARACTERS, pick);
  return line;
}

/** A sentence with one place damaged. */
function damaged(pick: Pick): string {
  const line = sentence(pick);
  const at = pick(line.length + 1);
  return line.slice(0, at) + one(CHARACTERS, pick) + line.slice(at + pick(3));
}

/** A fifth of a million in the full run. */
const INPUTS = inFullOr(200_000, 10_000);

it('of many inputs none throws, and every command is stable under parse and print', () => {
  const pick = numbersFrom(20_261_120);
  let commands = 0;
  for (let index = 0; index < INPUTS; index += 1) {
    const kind = index % 4;
    const input = kind < 2 ? sentence(pick) : kind === 2 ? damaged(pick) : noise(pick);
    const parsed = parseCommand(input);
    check(input, parsed);
    if (parsed.kind === 'ok') commands += 1;
  }
  expect(commands).toBeGreaterThan(INPUTS / 10);
});

it.each([16_000, 40_000])('inputs of %i characters are read, or refused, whatever they repeat', (length) => {
  const inputs = [...HUGE_COMMANDS.map((huge) => textOf(huge, length)), `web ${variables(length)}`];
  for (const input of inputs) check(input, parseCommand(input));
});

const variables = (length: number): string =>
  Array.from({ length: Math.floor(length / 16) }, (_, index) => `--env=A${index}=1`).join(' ');

it('a line of 16,000 characters is read, a longer one is refused, a document may be longer', () => {
  expect(parseCommand(`web -- ${'x'.repeat(15_993)}`).kind).toBe('ok');
  expect(parseCommand(`web -- ${'x'.repeat(15_994)}`)).toMatchObject({
    error: { code: 'command_too_long', start: 16_000, end: 16_001 },
  });
  expect(parseCommand(`apply\n${'x'.repeat(40_000)}`).kind).toBe('ok');
});

it('any text at all is read or refused, and what is read is stable', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (input) => check(input, parseCommand(input))),
    { numRuns: inFullOr(5_000, 1_000), seed: 1 },
  );
});

it('any words and any environment survive being printed and read', () => {
  const word = fc.string({
    unit: fc.oneof(fc.constantFrom(...CHARACTERS), anyCharacter),
    maxLength: 12,
  });
  const quoted = word.map((text) => `'${text.replaceAll("'", "'\\''")}'`);
  fc.assert(
    fc.property(fc.array(quoted, { minLength: 1, maxLength: 6 }), quoted, (words, value) => {
      const input = `web --env=A=${value} --reason=x${value} -- ${words.join(' ')}`;
      check(input, parseCommand(input));
    }),
    { numRuns: inFullOr(5_000, 1_000), seed: 2 },
  );
});
