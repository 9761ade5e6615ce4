import { expect, it } from 'vitest';
import {
  FLAG_GROUPS,
  FLAGS,
  flagNamed,
  flagOfLetter,
  flagUsage,
  KUBECTL_ONLY,
} from '../../../../src/core/command/line/flags.ts';
import { parseCommand } from '../../../../src/core/command/parse.ts';
import { printCommand } from '../../../../src/core/command/print.ts';

it('no name and no letter is used twice', () => {
  const names = FLAGS.flatMap((flag) => [flag.name, ...(flag.short ? [flag.short] : [])]);
  expect(new Set(names).size).toBe(names.length);
});

it.each(FLAGS.map((flag) => [flag.name, flag.example] as const))(
  'the example of --%s can be typed and uses it',
  (name, example) => {
    expect(parseCommand(example)).toMatchObject({ kind: 'ok' });
    const flag = flagNamed(name);
    expect(example.includes(`--${name}`) || (flag?.short !== undefined && example.includes(`-${flag.short} `))).toBe(
      true,
    );
  },
);

it.each(FLAGS.map((flag) => [flag.name, flag.example] as const))(
  'the example of --%s has the same meaning after it was printed',
  (_name, example) => {
    const parsed = parseCommand(example);
    if (parsed.kind !== 'ok') throw new Error(parsed.error.message);
    expect(parseCommand(printCommand(parsed.command))).toEqual(parsed);
  },
);

it('every group has flags, and every flag but a switch says what its value is', () => {
  expect([...new Set(FLAGS.map((flag) => flag.group))].sort()).toEqual([...FLAG_GROUPS].sort());
  for (const flag of FLAGS) expect(flag.placeholder === undefined).toBe(flag.value === 'switch');
});

it('names of objects are no flags', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    expect(flagNamed(name)).toBeUndefined();
    expect(flagOfLetter(name)).toBeUndefined();
    expect(KUBECTL_ONLY.has(name)).toBe(false);
  }
});

it('flags of kubectl that are not ours are no flags of ours', () => {
  for (const name of KUBECTL_ONLY.keys()) expect(flagNamed(name) ?? flagOfLetter(name)).toBeUndefined();
});

it('usage shows the letter, the name and the value', () => {
  expect(FLAGS.filter((flag) => ['namespace', 'all'].includes(flag.name)).map(flagUsage)).toEqual([
    '-n, --namespace=NS',
    '--all',
  ]);
});
