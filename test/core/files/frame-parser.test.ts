import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FrameParser, withoutFrames } from '../../../src/core/files/frame-parser.ts';
import type { FramePart } from '../../../src/core/files/frame-parts.ts';
import { frame } from '../../support/frames.ts';

interface Read {
  readonly text: string;
  /** `name: content` of the whole ones, `name!` of the others. */
  readonly files: readonly string[];
}

/** What the parser makes of a log, in chunks of this size. */
function read(log: string, chunkBytes = log.length, maxTextBytes = 1_000_000): Read {
  const parser = new FrameParser(maxTextBytes);
  const parts: FramePart[] = [];
  const bytes = Buffer.from(log);
  for (let from = 0; from < bytes.length; from += Math.max(1, chunkBytes)) {
    // The parts share memory with the chunk.
    parts.push(...parser.push(Buffer.from(bytes.subarray(from, from + Math.max(1, chunkBytes)))));
  }
  parts.push(...parser.end());
  return gathered(parts);
}

function gathered(parts: readonly FramePart[]): Read {
  const text: Buffer[] = [];
  const files: string[] = [];
  let open: { name: string; content: Buffer[] } | undefined;
  for (const part of parts) {
    if (part.kind === 'text') text.push(part.bytes);
    else if (part.kind === 'begin') {
      expect(open).toBeUndefined();
      open = { name: part.header.name, content: [] };
    } else if (part.kind === 'data') open?.content.push(part.bytes);
    else {
      files.push(part.isWhole ? `${open?.name}: ${Buffer.concat(open?.content ?? []).toString()}` : `${open?.name}!`);
      open = undefined;
    }
  }
  expect(open).toBeUndefined();
  return { text: Buffer.concat(text).toString(), files };
}

const REPORT = '-----BEGIN KDEBUG REPORT-----\n{"kdebug":1}\n-----END KDEBUG REPORT-----\n';
const SHA = createHash('sha256').update('abc').digest('hex');
const BEGIN = `-----BEGIN KDEBUG FILE name=a.txt bytes=3 sha256=${SHA} encoding=base64-----\n`;
const END = '-----END KDEBUG FILE name=a.txt lines=1-----\n';
const LONG = 'QUJD'.repeat(100);

describe('FrameParser', () => {
  it('takes files out and leaves the text around them', () => {
    const log = `words\n${frame('a.txt', 'abc')}${frame('b.txt', '')}${REPORT}`;
    expect(read(log)).toEqual({ text: `words\n${REPORT}`, files: ['a.txt: abc', 'b.txt: '] });
  });

  it('does not care how the log is cut', () => {
    const log = `-- 12 words\n${frame('a.txt', 'x'.repeat(20_000), { lineLength: 128 })}-----\n000001 ${LONG}${'x'.repeat(9_000)}\n7${'y'.repeat(9_000)}\n${BEGIN}000001 YWJj\n${REPORT}end`;
    const whole = read(log);
    expect(whole.files).toEqual([`a.txt: ${'x'.repeat(20_000)}`, '!', 'a.txt!']);
    for (const size of [1, 2, 3, 7, 100, 4_096, 8_192, 8_193]) expect(read(log, size)).toEqual(whole);
  });

  it('holds back at most one line of 8 KiB', () => {
    const parser = new FrameParser(10_000);
    expect(parser.push(Buffer.from('half a line'))).toEqual([]);
    expect(gathered(parser.push(Buffer.from('\n-----BEGIN'))).text).toBe('half a line\n');
    expect(gathered(parser.push(Buffer.from(` CERTIFICATE-----\n${'-'.repeat(9_000)}`))).text).toHaveLength(9_028);
  });

  it.each<[string, string, readonly string[], string?]>([
    ['a line is missing', `${BEGIN}000002 YWJj\n${END}`, ['a.txt!']],
    ['a line comes twice', `${BEGIN}000001 YWJj\n000001 YWJj\n${END}`, ['a.txt!']],
    ['the last line is missing', `${BEGIN}${END}`, ['a.txt!']],
    ['the end is missing', `${BEGIN}000001 YWJj\n`, ['a.txt!']],
    ['the log ends in a line', `${BEGIN}000001 YW`, ['a.txt!']],
    ['the log ends in a number', `${BEGIN}0000`, ['a.txt!'], '0000'],
    ['the beginning is missing', `000001 ${LONG}\n000002 ${LONG}\n${END}`, ['a.txt!']],
    ['its beginning is cut in a line', `${LONG}\n000002 ${LONG}\n${END}`, ['a.txt!']],
    ['nothing but lines is there', `000001 ${LONG}\n000002 ${LONG}\n`, ['!']],
    ['nothing but the end is there', END, ['a.txt!']],
    ['the end is of another file', `${BEGIN}000001 YWJj\n${END.replace('a.', 'b.')}`, ['a.txt!', 'b.txt!']],
    ['another begins in it', `${BEGIN}000001 YWJj\n${frame('b.txt', 'b')}${END}`, ['a.txt!', 'b.txt: b', 'a.txt!']],
    ['it begins twice', `${BEGIN}${BEGIN}000001 YWJj\n${END}`, ['a.txt!', 'a.txt: abc']],
    ['the report comes first', `${BEGIN}000001 YWJj\n${REPORT}${END}`, ['a.txt!', 'a.txt!'], REPORT],
    ['a line is garbled', `${BEGIN}000001 ${LONG}00002 x\n${END}`, ['a.txt!']],
    ['a line is too long', `${BEGIN}000001 ${LONG.repeat(30)}\n${END}`, ['a.txt!']],
    ['the hash is none', `${BEGIN.replace(SHA, 'abc')}000001 YWJj\n${END}`, ['a.txt!']],
    ['the encoding is another', `${BEGIN.replace('=base64', '=base85')}000001 YWJj\n${END}`, ['a.txt!']],
    ['the name has a space', `${BEGIN.replace('a.txt', 'a b')}000001 YWJj\n${END}`, ['a!', 'a.txt!']],
    ['the name is missing', `${BEGIN.replace('name=a.txt ', '')}000001 YWJj\n${END}`, ['a.txt!']],
    ['the end is malformed', `${BEGIN}000001 YWJj\n${END.replace('lines=1', 'lines=x')}`, ['a.txt!']],
  ])('calls a file incomplete when %s', (_, log, files, text = '') => {
    for (const size of [1, 5, log.length]) expect(read(`${log}`, size)).toEqual({ text, files });
  });

  it('goes on with the next file and the text behind an incomplete one', () => {
    const log = `${BEGIN}000007 YWJj\nwords\n000009 YWJj\n${frame('b.txt', 'b')}more\n${REPORT}`;
    expect(read(log)).toEqual({ text: `words\nmore\n${REPORT}`, files: ['a.txt!', 'b.txt: b'] });
  });

  it('leaves lines of another stream in the text, whatever lies around them', () => {
    const log = `${BEGIN}warning: x\n000001 YWJj\n000 dropped\n${END}`;
    expect(read(log)).toEqual({ text: 'warning: x\n000 dropped\n', files: ['a.txt: abc'] });
  });

  it.each([
    ['a mark in a line', `x ${BEGIN}`],
    ['an indented mark', ` ${BEGIN}`],
    ['numbers', '000001 ok\n000002 YWJj\n12\n'],
    ['other marks', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'],
    ['an end of nothing', '-----END KDEBUG FILE -----\n'],
    ['a mark over 512 characters', `${BEGIN.replace('a.txt', 'a'.repeat(600))}`],
    ['bytes of no character', '\u0000\u00ff\n'],
  ])('leaves %s', (_, log) => {
    expect(read(log)).toEqual({ text: log, files: [] });
  });

  it('cuts text at its limit, and still finds the files behind it', () => {
    const log = `12345\n67890\n${frame('a.txt', 'abc')}x\n`;
    expect(read(log, 4, 8)).toEqual({ text: '12345\n67', files: ['a.txt: abc'] });
    const parser = new FrameParser(8);
    parser.push(Buffer.from('a234567\n'));
    expect(parser.isTextCut).toBe(false);
    parser.push(Buffer.from('x\n'));
    expect(parser.isTextCut).toBe(true);
  });
});

describe('a text without frames', () => {
  const content = 'x'.repeat(900);
  const log = `${frame('a.txt', content, { lineLength: 400 })}`;

  it.each([log.indexOf('-----BEGIN'), log.indexOf('000001'), log.indexOf('000002'), log.indexOf('000002') + 50])(
    'keeps the words behind a file, also one that began earlier (%i)',
    (from) => {
      expect(withoutFrames(`${log.slice(from)}Killed.\n`)).toBe('Killed.\n');
    },
  );

  it('is the text itself if it has none', () => {
    expect(withoutFrames('a\n000001 b\n{"c": "ä"}')).toBe('a\n000001 b\n{"c": "ä"}');
  });
});
