import { describe, expect, it } from 'vitest';
import { FINDINGS } from '../../src/core/diagnosis/findings.ts';
import { REASONS } from '../../src/core/errors.ts';
import type { Button, Message } from '../../src/core/say/message/message.ts';
import { sentencesIn } from '../../src/core/say/parts/headline.ts';
import { EVERY_MESSAGE } from '../support/every-message.ts';
import { notificationOf, onPhone, shownBlocks, shownView, wrapped } from '../support/phone.ts';

const MAX_LINE = 120;
/** A headline of 300 characters, with a mark and a name. */
const MAX_WHOLE_LINE = 340;
const MAX_LABEL = 24;
/** Rows of a small phone above the keyboard. */
const FIRST_SCREEN = 16;
/** Letters of a mark of `core/say/message/message.ts`. */
const MARK = /^\p{Extended_Pictographic}️? /u;

/** Of a phone and a screen reader; of the desktop, which takes the words of the blocks. */
const MAX_TOLD = 100;
const MAX_TOLD_BLOCKS = 120;
/** The pods and alerts of the examples. */
const SUBJECT = /\b(?:web-\d|neato-5x9k3|checkout|payments|Kube\w+|\d+ pods?|deployment\/web|pod of)/;
/** What people typed may be cut: the card has all of it elsewhere. */
const TYPED = /^Why: | requested \/kdebug /;
/** Posted where others read: cards, results and replies. */
const POSTED = /^(?:cards\/(?!for-one)|replies\/|batch\/(?!answers)|compare\/|once-more\/(?!answers))/;

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

const posted = each.filter(({ title }) => POSTED.test(title));
const blocksOf = (message: Message): string => JSON.stringify(shownView(message).blocks);
const mentionsSomebody = (message: Message): boolean => /"type":"user"|"text":"<@U/.test(blocksOf(message));

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

  it('gives advice that nothing cuts', () => {
    const [, second = ''] = firstLines(message);
    if (!TYPED.test(second)) expect(second).not.toMatch(/…$/);
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

describe.each(posted)('$title', ({ message }) => {
  it('names no id where Slack reads no markup', () => {
    expect(notificationOf(message)).not.toMatch(/<@|\b[USC]0[A-Z]{2,}/);
  });

  it('names its pod, pods or alert to whoever is notified, and says more of it than the name', () => {
    if (!mentionsSomebody(message)) return;
    const desktop = shownBlocks(message)
      .flatMap(({ lines }) => lines)
      .join(' ');
    for (const told of [notificationOf(message).slice(0, MAX_TOLD), desktop.slice(0, MAX_TOLD_BLOCKS)]) {
      expect(told).toMatch(SUBJECT);
      expect(told.replace(SUBJECT, '').match(/\p{L}{3}/gu)?.length).toBeGreaterThan(2);
    }
  });
});

const decisions = each.filter(({ message }) => buttonsOf(message).some(({ action }) => action === 'approve'));

describe.each(decisions)('$title', ({ message }) => {
  it('says to a screen reader all that people decide on, as its parts show it', () => {
    const said = notificationOf(message);
    const parts = message.parts.filter((part) => 'whole' in part && part.whole === true);
    const shown = shownBlocks({ ...message, tone: 'neutral', parts }).flatMap(({ lines }) => lines);
    const wordsIn = (line: string): readonly string[] =>
      line
        .replace(/^│ /, '')
        .split(/\s+/)
        .filter((word) => word !== '');
    expect(shown.flatMap(wordsIn).filter((word) => !said.includes(word))).toEqual([]);
    expect(said).toMatch(/expires (?:at )?\d/);
  });

  it('has buttons that say to a screen reader what they decide on', () => {
    const labels = [...blocksOf(message).matchAll(/"accessibility_label":"([^"]*)"/g)].map(([, label = '']) => label);
    expect(labels.length).toBeGreaterThan(1);
    expect(labels.filter((label) => label.length > 75 || !SUBJECT.test(label))).toEqual([]);
  });

  it('does not notify its own requester', () => {
    const withdraws = buttonsOf(message).some(({ action }) => action === 'cancel');
    const quiet = JSON.stringify(message.parts).replaceAll(/"userId":"[^"]*","isQuiet":true/g, '');
    if (withdraws) expect(quiet).not.toMatch(/"userId":"U0(?:ROY|THURSTON)"/);
  });
});

it.each(FINDINGS)('the next step of $code has a first sentence that fits on a card', ({ next = '' }) => {
  expect(sentencesIn(next)).not.toMatch(/…$/);
});

it.each(Object.entries(REASONS))('the advice for %s has a first sentence that fits on a card', (_code, { hint }) => {
  expect(sentencesIn(hint)).not.toMatch(/…$/);
});
