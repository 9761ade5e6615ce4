import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLogFilter } from '../../../src/core/redact/log-filter.ts';
import { inFullOr, sampleOf } from '../../support/sample.ts';
import { AWS_KEY, CLEAN_LINES, CLEAN_TEXTS, ENDED, GITHUB_TOKEN, JWT, SAMPLES } from './secret-corpus.ts';

const LONG = 64 * 1024;

function filtered(log: string | Buffer, cuts: readonly number[] = [], redact: readonly string[] = []): string {
  const bytes = Buffer.from(log as string);
  const filter = createLogFilter({ redact });
  const edges = [0, ...cuts, bytes.length];
  const parts = edges.slice(1).map((end, index) => Buffer.from(filter.push(bytes.subarray(edges[index], end))));
  return Buffer.concat([...parts, filter.end()]).toString('utf8');
}

const inChunksOf = (size: number, length: number): number[] =>
  Array.from({ length: Math.ceil(length / size) - 1 }, (_, index) => (index + 1) * size);

describe('secrets', () => {
  it.each(SAMPLES)('redacts: $name', ({ log, secret, kind }) => {
    const result = filtered(`before\n${log}\nafter it\n`);

    expect(result).not.toContain(secret);
    expect(result).toContain(`[redacted:${kind}]`);
    expect(result.startsWith('before\n')).toBe(true);
    expect(result.endsWith('\nafter it\n')).toBe(true);
  });

  it('finds a name with an ending also in a line that holds nothing else', () => {
    for (const { log, secret } of ENDED) expect(filtered(log), log).not.toContain(secret);
  });

  it.each(SAMPLES)('redacts wherever the log is cut: $name', ({ log, secret }) => {
    const bytes = Buffer.from(`a b\n${log}\nc\n`);
    const whole = filtered(bytes);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const result = filtered(bytes, [cut]);
      expect(result).toBe(whole);
      expect(result).not.toContain(secret);
    }
    expect(filtered(bytes, inChunksOf(1, bytes.length))).toBe(whole);
  });

  /** Known by their place on the line, or by a border before them. */
  const alone = new Set(['YAML with spaces in the value', 'pgpass', 'pgpass with stars', 'PASS=']);
  const single = SAMPLES.filter(({ name, log }) => !log.includes('\n') && !alone.has(name));
  it.each(sampleOf('joints of two secrets', ['', ' ', ',', '&', ';', '"'], 2))(
    'redacts both of two secrets on a line, joined by %j',
    (joint) => {
      for (const first of single) {
        for (const second of single) {
          const result = filtered(`${first.log}${joint}${second.log}`);
          expect(result, `${first.name} + ${second.name}`).not.toContain(first.secret);
          // Written into one word, the second may lose the edge it is known by.
          if (joint === ' ') expect(result, `${first.name} + ${second.name}`).not.toContain(second.secret);
        }
      }
    },
  );

  it.each([
    ['a token as a password', `https://bot:${GITHUB_TOKEN}@git.example.com`, GITHUB_TOKEN],
    ['a JWT in a header', `Authorization: Bearer ${JWT}`, JWT.slice(-30)],
    ['an address as a value', `{"password":"postgres://a:${AWS_KEY}@h"}`, AWS_KEY],
    ['tokens in one word', `${AWS_KEY}${GITHUB_TOKEN}${JWT}`, JWT.slice(-30)],
  ])('joins what several rules see: %s', (_name, log, secret) => {
    expect(filtered(log)).not.toContain(secret);
  });

  it('counts what it replaced, a key over several lines once', () => {
    const filter = createLogFilter({ redact: [] });
    const pem = SAMPLES.find(({ name }) => name === 'private key over lines')?.log ?? '';

    filter.push(Buffer.from(`password=abc user=x token=abcdef1\n${pem}\n`));

    expect(filter.redactions).toBe(3);
    expect(filtered(`${pem}\n`)).toBe('key:\n[redacted:private-key]\nafter\n');
  });

  it('gives nothing away when a private key never ends', () => {
    const body = 'MIIEowIBAAKCAQEA7bq3'.repeat(3);
    const result = filtered(`-----BEGIN ${'PRIVATE'} KEY-----\n${`${body}\n`.repeat(50)}{"level":"info"}\n`);

    expect(result).toBe('[redacted:private-key]\n{"level":"info"}\n');
  });

  it('is the same when run twice', () => {
    const once = SAMPLES.map(({ log }) => filtered(log)).join('\n');
    expect(filtered(once)).toBe(once);
  });

  it("redacts the policy's own patterns, line by line", () => {
    const log = 'id CUST-123456 ok\nCUST-1\nCUST-654321';
    expect(filtered(log, [9, 20], ['CUST-\\d{6}', '^CUST-1$'])).toBe(
      'id [redacted:custom] ok\n[redacted:custom]\n[redacted:custom]',
    );
  });
});

describe('over-redaction', () => {
  it('leaves lines that only look like secrets as they are', () => {
    for (const text of [...CLEAN_LINES, ...CLEAN_TEXTS]) expect(filtered(text)).toBe(text);
  });

  it('takes at most one line in a thousand of ordinary logs', () => {
    const word = fc.constantFrom(
      'info',
      'GET',
      '/api/v1',
      '200',
      'user=alice',
      'msg="ok"',
      'key=7',
      'a@b.c',
      'cache',
      '10.0.0.1:80',
      'took',
      '12ms',
    );
    const hex = fc.stringMatching(/^[0-9a-f]{32,64}$/);
    const lines = fc.sample(
      fc.array(
        fc.oneof({ weight: 6, arbitrary: word }, hex, fc.uuid(), fc.base64String({ minLength: 24, maxLength: 48 })),
        { minLength: 3, maxLength: 14 },
      ),
      { numRuns: inFullOr(3_000, 400), seed: 7 },
    );
    const changed = lines.filter((words) => filtered(words.join(' ')) !== words.join(' '));
    expect(changed.length).toBeLessThanOrEqual(3);
  });
});

describe('cleaning', () => {
  it.each([
    ['colours', '\x1b[1;31mred\x1b[0m', 'red'],
    ['a hyperlink', '\x1b]8;;http://evil\x1b\\text\x1b]8;;\x07', 'text'],
    ['the clipboard', 'a\x1b]52;c;aGk=\x07b', 'ab'],
    ['C1 forms', 'a\u009b31mb\u009d52;c;x\u009cc', 'abc'],
    ['a control string without an end', 'a\x1b]52;c;rest of it', 'a52;c;rest of it'],
    ['progress', '10%\r50%\r100%\nnext', '100%\nnext'],
    ['progress that ends in a return', '10%\r100%\r\nnext', '100%\nnext'],
    ['progress by column', '10%\x1b[2K\x1b[1Gdone', 'done'],
    ['backspaces', 'ab\b\bx N\bNo |\b/\b-\bok', 'x No ok'],
    ['NUL, bell, delete', 'a\0b\x07c\x7fd', 'abcd'],
    ['bidi and zero width', 'a\u202eb\u2066c\u200bd\u200de\ufefff', 'abcdef'],
    ['line separators', 'a\u2028b\u2029c', 'a b c'],
    ['invalid bytes', Buffer.from([0x61, 0xff, 0xe2, 0x82, 0x62]), 'a\ufffd\ufffdb'],
    ['a lone surrogate', Buffer.from([0xed, 0xa0, 0x80, 0x62]), '\ufffd\ufffd\ufffdb'],
    ['a cut character at the end', Buffer.from([0x61, 0xf0, 0x9f, 0x98]), 'a\ufffd'],
    ['text that needs nothing', 'naïve 日本 😀\tok', 'naïve 日本 😀\tok'],
  ])('handles %s, wherever it is cut', (_name, log, clean) => {
    const bytes = Buffer.from(log as string);
    for (let cut = 0; cut <= bytes.length; cut++) expect(filtered(bytes, [cut])).toBe(clean);
  });

  it('finds a secret that was broken up by what is cleaned away', () => {
    const broken = [...AWS_KEY].join('\u200b').replace('7', '\x1b[1m7');
    expect(filtered(broken)).toBe('[redacted:aws-key]');
  });

  it('never gives out a control character, whatever comes in', () => {
    const nasty = fc.constantFrom(
      '\x1b',
      '[',
      ']',
      '0',
      ';',
      'm',
      '\x07',
      '\\',
      '\r',
      '\n',
      '\b',
      '\u009b',
      '\u202e',
      '\ufeff',
      'a',
      'password=x',
      '\udb40\udc41',
    );
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 60 }), fc.nat(80), (parts, cut) => {
        const bytes = Buffer.from(parts.join(''));
        const result = filtered(bytes, [Math.min(cut, bytes.length)]);
        expect(result).not.toMatch(
          /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/u,
        );
        expect(result).toBe(filtered(bytes));
      }),
      { numRuns: inFullOr(2_000, 300) },
    );
  });

  it('gives the same for random bytes, however they are cut', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300), { maxLength: 5 }), (bytes, cuts) => {
        const log = Buffer.from(bytes);
        const edges = cuts.map((cut) => Math.min(cut, log.length)).sort((a, b) => a - b);
        expect(filtered(log, edges)).toBe(filtered(log));
      }),
      { numRuns: inFullOr(1_000, 200) },
    );
  });
});

describe('long lines', () => {
  const filler = 'lorem ipsum dolor sit amet 0123456789 ';
  const long = (length: number): string => filler.repeat(Math.ceil(length / filler.length)).slice(0, length);

  it.each([LONG - 1, LONG, LONG + 1, 3 * LONG + 17])('gives a plain line of %i bytes as it is', (length) => {
    const log = `${long(length)}\nnext\n`;
    expect(filtered(log)).toBe(log);
    expect(filtered(log, inChunksOf(1000, log.length))).toBe(log);
  });

  it('finds secrets around every edge of its pieces', () => {
    for (const edge of [LONG, LONG - 8192, 2 * LONG, 2 * LONG - 8192]) {
      for (let shift = -60; shift <= 60; shift += 7) {
        const log = `${long(edge + shift)} password=hunter2!x --token abc123def ${AWS_KEY} ${long(LONG)}`;
        const result = filtered(log);
        expect(result).not.toMatch(/hunter2|abc123def/);
        expect(result).not.toContain(AWS_KEY);
        expect(filtered(log, inChunksOf(4099, log.length))).toBe(result);
      }
    }
  });

  it('finds them also around the shorter pieces of a policy with a large pattern', () => {
    for (const edge of [384, 768, 1152, 1536, 2304]) {
      for (let shift = -60; shift <= 60; shift += 7) {
        const filter = createLogFilter({ redact: ['zq[xy]{230}c'] });
        const log = `${long(edge + shift)} password=hunter2!x --token abc123def ${AWS_KEY} ${JWT} ${long(2_000)}`;
        const result = Buffer.concat([filter.push(Buffer.from(log)), filter.end()]).toString();
        expect(result).not.toMatch(/hunter2|abc123def/);
        expect(result).not.toContain(AWS_KEY);
        expect(result).not.toContain(JWT.slice(-30));
      }
    }
  });

  it('hides the rest of a line after a secret too long to be seen whole', () => {
    const result = filtered(`${long(LONG)} password="${'s'.repeat(3 * LONG)}" tail\nnext\n`);
    expect(result).not.toContain('sss');
    expect(result.endsWith(' password="[redacted:secret]\nnext\n')).toBe(true);
  });

  it('keeps characters and escapes whole across its pieces', () => {
    for (let shift = 0; shift < 8; shift++) {
      const log = `${'x'.repeat(LONG - 4 - shift)}😀\x1b[31m日本\x1b]8;;http://x\x07y${'z'.repeat(LONG)}\n`;
      expect(filtered(log)).toBe(`${'x'.repeat(LONG - 4 - shift)}😀日本y${'z'.repeat(LONG)}\n`);
    }
  });

  it('folds rewrites of a line without an end, and starts a new line for a rewrite that comes too late', () => {
    const progress = Array.from({ length: 40_000 }, (_, step) => `step ${step}\r`).join('');
    expect(filtered(`${progress}\nnext\n`, inChunksOf(777, progress.length))).toBe('step 39999\nnext\n');

    const late = filtered(`${long(2 * LONG)}\rdone\n`);
    expect(late).toBe(`${long(2 * LONG)}\ndone\n`);
  });
});
