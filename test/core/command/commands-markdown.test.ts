import { expect, test } from 'vitest';
import { commandsMarkdown } from '../../../src/core/command/commands-markdown.ts';
import { FLAGS, flagUsage } from '../../../src/core/command/flags.ts';
import { PROFILE_HELP } from '../../../src/core/command/help.ts';
import { VERBS } from '../../../src/core/command/verbs.ts';

const lines = commandsMarkdown().split('\n');

test('every flag, verb and profile has a row', () => {
  const page = commandsMarkdown().replaceAll('\\|', '|');
  for (const flag of FLAGS) expect(page).toContain(`| \`${flagUsage(flag)}\` | ${flag.help}`);
  for (const verb of VERBS) expect(page).toContain(`| \`/kdebug ${verb.usage}\` | ${verb.help} |`);
  for (const [name, meaning] of PROFILE_HELP) expect(page).toContain(`| \`${name}\` | ${meaning} |`);
});

test('every row of a table has as many cells as its head', () => {
  const bars = (line: string): number => line.replaceAll('\\|', '').split('|').length;
  const rows = lines.filter((line) => line.startsWith('|'));
  for (const [index, row] of lines.entries()) {
    const before = lines[index - 1] ?? '';
    if (row.startsWith('|') && before.startsWith('|')) expect(bars(row), row).toBe(bars(before));
  }
  expect(rows.length).toBeGreaterThan(FLAGS.length + VERBS.length);
});

test('the page ends with one newline', () => {
  expect(commandsMarkdown()).toMatch(/[^\n]\n$/);
});
