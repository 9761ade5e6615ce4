import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { view } from '../../src/adapters/slack/views/view.ts';
import { REASONS } from '../../src/core/errors.ts';
import { indexText, podHead } from '../../src/core/say/batch/batch-files.ts';
import { BOT, COMMAND, withNames } from '../../src/core/shown-names.ts';
import { aBatchRun, ended } from '../core/say/batch/a-batch-run.ts';
import { EVERY_MESSAGE } from '../support/every-message.ts';
import { sourceOf, sourcePaths, walk } from './source-tree.ts';

/** As long as Slack allows. */
const NAMES = { command: `/${'z'.repeat(31)}`, bot: '@zzz' };
/** The names themselves, not paths such as /etc/kdebug/ and deployment/kdebug. */
const LITERAL = /(?<![\w/\\])[/@]kdebug(?![\w/])/;
const MARKER = new RegExp(`[${COMMAND}${BOT}]`);

/** The one module that says the names, and what reads them. */
const HOME = 'src/core/shown-names.ts';

const each = EVERY_MESSAGE.flatMap(({ file, examples }) =>
  examples.map(({ name, message }) => ({ title: `${file}: ${name}`, message })),
);

/** As it goes to Slack, with the marker still found where a renderer would drop it. */
const rawTextOf = (value: unknown): string => JSON.stringify(value);

describe('the names of the slash command and of the bot', () => {
  it('stand in no text of the source but in their module', () => {
    const found: string[] = [];
    for (const path of sourcePaths().filter((one) => one !== HOME))
      walk(sourceOf(path), (node) => {
        if (!ts.isStringLiteralLike(node) && !ts.isTemplateHead(node) && !ts.isTemplateMiddleOrTemplateTail(node))
          return;
        if (LITERAL.test(node.text)) found.push(`${path}: ${node.text}`);
      });
    expect(found).toEqual([]);
  });

  it('stand in the messages as markers', () => {
    expect(each.filter(({ message }) => MARKER.test(rawTextOf(message))).length).toBeGreaterThan(20);
    expect(MARKER.test(rawTextOf(REASONS))).toBe(true);
  });

  it('stand in no file that a batch uploads', () => {
    const run = aBatchRun({ size: 2, events: [...ended(0, 0), ...ended(1, 1)] });
    const text = [...indexText(run, 'spool_full'), podHead(run, 0, { bytes: 1 })].join('');
    expect(text).not.toMatch(MARKER);
    expect(text).not.toMatch(LITERAL);
  });
});

describe.each(each)('$title', ({ message }) => {
  it('says other names in every place, and no marker', () => {
    const shown = withNames(message, NAMES);
    expect(rawTextOf(shown)).not.toMatch(MARKER);
    expect(rawTextOf(view(shown))).not.toMatch(LITERAL);
  });
});
