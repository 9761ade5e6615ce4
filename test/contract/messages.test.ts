import { describe, expect, it } from 'vitest';
import type { Button, Message } from '../../src/core/say/message/message.ts';
import { EVERY_MESSAGE } from '../support/every-message.ts';
import { notificationOf, onPhone, shownBlocks, wrapped } from '../support/phone.ts';

const MAX_LINE = 120;
/** A headline of 300 characters, with a mark and a name. */
const MAX_WHOLE_LINE = 340;
const MAX_LABEL = 24;
/** Rows of a small phone above the keyboard. */
const FIRST_SCREEN = 16;
/** Letters of a mark of `core/say/message/message.ts`. */
const MARK = /^\p{Extended_Pictographic}️? /u;

const each = EVERY_MESSAGE.flatMap(({ file, isCard = false, isResult = false, examples }) =>
  examples.map(({ name, message }) => ({ title: `${file}: ${name}`, isCard, isResult, message })),
);
const cards = each.filter(({ isCard }) => isCard);

/** The first two lines that are neither small print nor buttons. */
const firstLines = (message: Message): readonly string[] =>
  shownBlocks(message)
    .filter(({ type }) => type !== 'context' && type !== 'actions')
    .flatMap(({ lines }) => lines)
    .slice(0, 2);

const buttonsOf = ({ parts }: Message): readonly Button[] =>
  parts.flatMap((part) => (part.kind === 'actions' ? part.buttons : []));

describe.each(EVERY_MESSAGE)('$file', ({ file, examples }) => {
  it('reads on a phone as its golden says', async () => {
    const text = examples.map(({ name, message }) => `=== ${name}\n${onPhone(message)}\n`).join('\n');
    await expect(text).toMatchFileSnapshot(`../golden/${file}.txt`);
  });

  it('has a name for each example of its own', () => {
    expect(new Set(examples.map(({ name }) => name)).size).toBe(examples.length);
  });
});

describe.each(cards)('$title', ({ message, isResult }) => {
  it('says the answer in two short lines, after a mark that is not alone', () => {
    const lines = firstLines(message);
    const most = [isResult ? MAX_WHOLE_LINE : MAX_LINE, MAX_LINE];
    expect(lines.filter((line, index) => line.length >= (most[index] ?? 0))).toEqual([]);
    expect(lines[0]).toMatch(MARK);
    expect(lines[0]?.replace(MARK, '')).toMatch(/\p{L}{2}/u);
    expect(lines.join('').match(/\p{Extended_Pictographic}/gu)).toHaveLength(1);
  });

  it('has its buttons on the first screen', () => {
    const blocks = shownBlocks(message);
    const first = blocks.findIndex(({ type }) => type === 'actions');
    const rows = blocks.slice(0, first).flatMap(({ lines }) => lines.flatMap((line) => wrapped(line)));
    const isLong = message.parts.some((part) => part.kind === 'preformatted' && part.whole);
    if (first !== -1 && !isLong) expect(rows.length).toBeLessThanOrEqual(FIRST_SCREEN);
  });
});

describe.each(each)('$title', ({ message }) => {
  it('has short buttons, and a word for each', () => {
    for (const { label, confirm } of buttonsOf(message)) {
      const words = [label, ...(confirm ? [confirm.yes, confirm.no] : [])];
      expect(words.filter((word) => word.length > MAX_LABEL || word.trim() === '')).toEqual([]);
    }
  });

  it('sends nobody to a tool or a page that a reader of Slack does not have', () => {
    const words = onPhone(message)
      .replace(/^[│»].*$/gm, '')
      .replace(/\s+/g, ' ');
    expect(words).not.toMatch(/kubectl|check (?:the|its|the pod’s) events|the message lists/i);
  });

  it('writes numbers and times as people do', () => {
    const text = onPhone(message);
    expect(text).not.toMatch(/\d %|\b0\.0 s|\b\d+\.0 s\b/);
    expect(text).not.toMatch(/\d{4}-\d\d-\d\dT/);
  });

  it('has one line of words for a lock screen, and more only of what people decide on', () => {
    const [first, ...others] = notificationOf(message).split('\n');
    expect(first).toMatch(/\p{L}{2}/u);
    expect(others.length > 0).toBe(message.decidedOn !== undefined);
  });
});
