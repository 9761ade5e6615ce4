import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditKey, extendChain, headSlot, type Link } from '../../../src/core/audit/chain.ts';
import { toLogLine } from '../../../src/core/audit/lines.ts';
import { type VerifyOptions, type VerifyResult, verifyChain } from '../../../src/core/audit/verify.ts';
import { sha256 } from '../../../src/core/hash.ts';
import { anyCharacter } from '../../support/any-text.ts';
import { inFullOr } from '../../support/sample.ts';
import { aChain, aHappening, fileOf, KEY, someHappenings, textOf } from './chain-of.ts';

const check = (data: Uint8Array, options: Partial<VerifyOptions> = {}): Promise<VerifyResult> =>
  verifyChain(fileOf(data), { key: KEY, form: 'file', ...options });
const problem = async (data: Uint8Array, options: Partial<VerifyOptions> = {}) => {
  const { defect: wrong } = await check(data, options);
  return wrong && `${wrong.line ?? 'end'}: ${wrong.problem}`;
};

const FIVE = aChain(someHappenings(5));
/** All that the file's head would demand. */
const whole = { mustHold: [FIVE.link] };

describe('a chain as it was written', () => {
  it('is right, and its records, runs and times are counted', async () => {
    expect(await check(textOf(FIVE.lines), whole)).toEqual({
      bytes: textOf(FIVE.lines).length,
      records: 6,
      runs: 5,
      chains: 1,
      firstAt: '2026-11-21T07:30:00.000Z',
      lastAt: '2026-11-21T07:30:00.004Z',
      heads: [FIVE.link],
      notes: [],
    });
  });

  it('goes on with the next start, linked to what was there', async () => {
    const next = aChain(someHappenings(2), { chain: 'bot-2', after: FIVE.link, end: true });
    const last = aChain([], { chain: 'bot-3', after: next.link });
    const verdict = await check(textOf([...FIVE.lines, ...next.lines, ...last.lines]));
    expect(verdict).toMatchObject({ records: 11, chains: 3, heads: [last.link] });
    expect(verdict.defect).toBeUndefined();
  });

  it('may hold text of any kind', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: anyCharacter, maxLength: 40 }), { maxLength: 5 }), async (texts) => {
        const { lines, link } = aChain(texts.map((command, index) => aHappening(index, { command, '"\n': command })));
        expect(lines.some((line) => /[\n\r]/.test(line))).toBe(false);
        expect(await problem(textOf(lines), { mustHold: [link] })).toBeUndefined();
      }),
      { numRuns: inFullOr(200, 60) },
    );
  });
});

describe('a changed log is found out', () => {
  it.each<[string, string[], string]>([
    ['an edit', FIVE.lines.map((line) => line.replace('pod-2', 'pod-9')), '4: changed'],
    [
      'an edited proof',
      FIVE.lines.map((line, at) => (at === 3 ? line.replace(/.{6}"\}$/, '000000"}') : line)),
      '4: changed',
    ],
    ['a deleted record', FIVE.lines.toSpliced(2, 1), '3: missing'],
    ['several deleted records', FIVE.lines.toSpliced(2, 3), '3: missing'],
    ['a deleted beginning', FIVE.lines.slice(1), '1: missing'],
    [
      'two records in another order',
      FIVE.lines.toSpliced(2, 2, FIVE.lines[3] ?? '', FIVE.lines[2] ?? ''),
      '3: missing',
    ],
    ['a repeated record', FIVE.lines.toSpliced(3, 0, FIVE.lines[2] ?? ''), '4: out-of-place'],
    ['an invented record', FIVE.lines.toSpliced(3, 0, '{"v":1,"chain":"bot-1","seq":3}'), '4: not-a-record'],
    ['an empty line', FIVE.lines.toSpliced(3, 0, ''), '4: not-a-record'],
    [
      'a record of another log',
      FIVE.lines.toSpliced(3, 0, aChain(someHappenings(3), { chain: 'x' }).lines[3] ?? ''),
      '4: out-of-place',
    ],
    ['a second beginning', [...FIVE.lines, ...aChain([], { chain: 'x' }).lines], '7: out-of-place'],
    ['its last record cut off', FIVE.lines.slice(0, -1), 'end: cut-off'],
    ['its last three records cut off', FIVE.lines.slice(0, -3), 'end: cut-off'],
    ['all records but the first cut off', FIVE.lines.slice(0, 1), 'end: cut-off'],
    ['everything cut off', [], 'end: cut-off'],
  ])('%s', async (_, lines, found) => {
    expect(await problem(textOf(lines), whole)).toBe(found);
  });

  it('the end of one start cut off before the next one', async () => {
    const next = aChain(someHappenings(2), { chain: 'bot-2', after: FIVE.link });
    expect(await problem(textOf([...FIVE.lines.slice(0, -1), ...next.lines]))).toBe('6: missing');
  });

  it('a record behind the end of its chain', async () => {
    const ended = aChain(someHappenings(1), { end: true });
    const more = extendChain(KEY, ended.link, someHappenings(1));
    expect(await problem(textOf([...ended.lines, ...more.lines]))).toBe('4: out-of-place');
  });

  it('a record of a second writer with the same name', async () => {
    const fork = aChain([aHappening(7), aHappening(1)]);
    expect(await problem(textOf(FIVE.lines.with(2, fork.lines[2] ?? '')))).toBe('3: out-of-place');
  });

  it('a beginning that is not the first of its chain', async () => {
    const link = { chain: 'bot-2', seq: 3, mac: FIVE.link.mac };
    const late = extendChain(KEY, link, [{ ...aHappening(0, { destination: 'file' }), step: 'genesis' }]);
    expect(await problem(textOf([...FIVE.lines, ...late.lines]))).toBe('7: missing');
  });

  it('a head in place of a record', async () => {
    const { text } = headSlot(KEY, { generation: 1, last: FIVE.link, bytes: 1, upTo: 1 });
    expect(await problem(textOf([...FIVE.lines, text.trimEnd()]))).toBe('7: changed');
  });

  it('another key', async () => {
    expect(await problem(textOf(FIVE.lines), { key: auditKey(Buffer.alloc(32, 8)) })).toBe('1: changed');
  });

  it('a file whose last newline is gone', async () => {
    expect(await problem(textOf(FIVE.lines).subarray(0, -1), whole)).toBe('end: cut-off');
  });

  it('nothing at all', async () => {
    expect(await problem(Buffer.alloc(0))).toBe('end: nothing');
  });

  it('any one byte changed, removed or put in, anywhere', async () => {
    const data = textOf(FIVE.lines);
    const place = fc.nat(data.length - 1);
    const byte = fc.nat(255);
    const change = fc.oneof(
      fc.record({ kind: fc.constant('change'), place, byte }),
      fc.record({ kind: fc.constant('remove'), place, byte }),
      fc.record({ kind: fc.constant('insert'), place, byte }),
    );
    await fc.assert(
      fc.asyncProperty(
        change,
        fc.integer({ min: 1, max: 300 }),
        async ({ kind, place: at, byte: value }, chunkBytes) => {
          const middle = kind === 'remove' ? [] : [value];
          const rest = data.subarray(kind === 'insert' ? at : at + 1);
          const changed = Buffer.concat([data.subarray(0, at), Buffer.from(middle), rest]);
          fc.pre(!changed.equals(data));
          const lines = fileOf(changed, chunkBytes);
          expect((await verifyChain(lines, { key: KEY, form: 'file', ...whole })).defect).toBeDefined();
        },
      ),
      { numRuns: inFullOr(3_000, 200) },
    );
  });

  it('any records removed, repeated or put in another order', async () => {
    const orders = fc.array(fc.nat(FIVE.lines.length - 1), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        fc.pre(order.join() !== '0,1,2,3,4,5');
        const lines = order.map((index) => FIVE.lines[index] ?? '');
        expect((await check(textOf(lines), whole)).defect).toBeDefined();
      }),
      { numRuns: inFullOr(1_000, 200) },
    );
  });

  it('any field of a record changed by somebody who keeps the JSON right', async () => {
    const fields = fc.constantFrom(
      'v',
      'chain',
      'seq',
      'at',
      'step',
      'run',
      'channel',
      'actor',
      'facts',
      'prev',
      'mac',
    );
    const values = fc.oneof(fc.string(), fc.integer(), fc.constant({}));
    await fc.assert(
      fc.asyncProperty(fc.nat(5), fields, values, async (index, field, value) => {
        const changed = JSON.stringify({ ...JSON.parse(FIVE.lines[index] ?? ''), [field]: value });
        fc.pre(changed !== FIVE.lines[index]);
        expect((await check(textOf(FIVE.lines.with(index, changed)), whole)).defect).toBeDefined();
      }),
      { numRuns: inFullOr(500, 100) },
    );
  });
});

describe('a line that a writer died in', () => {
  const torn = `${FIVE.lines[5]?.slice(0, 40)} `;
  const kept = FIVE.lines.slice(0, 5);
  const nextStart = (facts: Record<string, string>): { lines: readonly string[]; link: Link } => {
    const link = aChain(someHappenings(4)).link;
    return aChain(someHappenings(1), { chain: 'bot-2', after: link, facts });
  };

  it('is told at the end of the log', async () => {
    const verdict = await check(Buffer.concat([textOf(kept), Buffer.from(torn)]));
    expect(verdict.defect).toBeUndefined();
    expect(verdict.notes).toEqual([expect.stringContaining('line 6 is not whole (41 bytes)')]);
  });

  it('is told when the next start has recorded it', async () => {
    const verdict = await check(textOf([...kept, torn, ...nextStart({ torn: sha256(torn) }).lines]));
    expect(verdict.defect).toBeUndefined();
    expect(verdict.notes).toEqual([expect.stringContaining('line 6 is not whole')]);
  });

  it('is wrong when the next start has not recorded it, or another one', async () => {
    expect(await problem(textOf([...kept, torn, ...nextStart({}).lines]))).toBe('6: not-a-record');
    expect(await problem(textOf([...kept, torn, ...nextStart({ torn: sha256('x') }).lines]))).toBe('6: not-a-record');
  });

  it('is missed when it was removed', async () => {
    expect(await problem(textOf([...kept, ...nextStart({ torn: sha256(torn) }).lines]))).toBe('6: missing');
  });
});

describe('an own log with records in it', () => {
  const asLog = (lines: readonly string[]) => lines.map((line) => toLogLine(line, JSON.parse(line).at));
  const stream = { form: 'stream' } as const;
  const one = aChain(someHappenings(3), { destination: 'stdout', end: true });
  const other = aChain(someHappenings(2), { chain: 'bot-2', destination: 'stdout' });
  const hostile = '{"level":"warn","message":"\\"message\\":\\"audit\\",\\"audit\\":{\\"v\\":1,","other":"audit"}';
  const mixed = [
    hostile,
    ...asLog(one.lines).flatMap((line, at) => [line, ...asLog(other.lines).slice(at, at + 1), 'plain']),
  ];

  it('is right, whatever stands between, from however many processes', async () => {
    const verdict = await check(textOf(mixed), stream);
    expect(verdict.defect).toBeUndefined();
    expect(verdict).toMatchObject({ records: 8, chains: 2, runs: 3, heads: [one.link, other.link] });
  });

  it('tells which chains have no end', async () => {
    expect((await check(textOf(mixed), stream)).notes).toEqual([
      expect.stringContaining('chain bot-2 has no end after record 2'),
    ]);
  });

  it('misses records that a noted head names', async () => {
    const cut = mixed.filter((line) => line !== asLog(other.lines)[2]);
    expect(await problem(textOf(cut), stream)).toBeUndefined();
    expect(await problem(textOf(cut), { ...stream, mustHold: [other.link] })).toBe('end: cut-off');
  });

  it('is wrong when a record is removed, moved, changed or taken from its envelope', async () => {
    const lines = asLog(one.lines);
    const [first = '', second = '', third = ''] = lines;
    expect(await problem(textOf(lines.toSpliced(1, 1)), stream)).toBe('2: missing');
    expect(await problem(textOf(lines.slice(1)), stream)).toBe('1: missing');
    expect(await problem(textOf([first, third, second]), stream)).toBe('2: missing');
    expect(await problem(textOf([first, second, second]), stream)).toBe('3: out-of-place');
    expect(await problem(textOf([first, second, first]), stream)).toBe('3: out-of-place');
    expect(await problem(textOf([first, second.replace('pod-0', 'pod-1')]), stream)).toBe('2: changed');
    expect(await problem(textOf([first, second.replace('07:30', '08:30')]), stream)).toBe('2: not-a-record');
    expect(await problem(textOf([first, second.replace('"info"', '"debug"')]), stream)).toBe('2: not-a-record');
  });

  it('is not taken for a file, nor a file for it', async () => {
    expect(await problem(textOf(one.lines))).toBe('1: out-of-place');
    expect(await problem(textOf(asLog(FIVE.lines)), stream)).toBe('1: out-of-place');
  });
});
