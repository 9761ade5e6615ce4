import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FILE_KINDS } from '../../../src/core/container/file-kinds.ts';
import { FrameParser } from '../../../src/core/files/frame-parser.ts';
import type { FramePart } from '../../../src/core/files/frame-parts.ts';
import { RunFiles } from '../../../src/flow/log/run-files.ts';
import { Turns } from '../../../src/lib/turns.ts';
import { frame } from '../../support/frames.ts';
import { FakeSpools } from '../support/fakes.ts';

/** A log with files, and what an attack or the node does to it: each delivered file equals its original, or none is. */

interface Original {
  readonly name: string;
  readonly content: Buffer;
}

const LIMITS = { maxFileBytes: 200_000, maxFiles: 6, maxFilesBytes: 400_000 };

const anOriginal = (index: number): fc.Arbitrary<Original> =>
  fc.record({
    // Kinds that are not redacted: what comes out must equal what went in.
    name: fc.constantFrom(`${index}.pcap`, `${index}.pb.gz`, `${index}.hprof`),
    content: fc
      .oneof(fc.uint8Array({ maxLength: 3_000 }), fc.uint8Array({ maxLength: 60 }).map(repeated))
      .map((bytes) => Buffer.from(bytes)),
  });

const repeated = (bytes: Uint8Array): Uint8Array => Buffer.alloc(bytes.length * 500, Buffer.from(bytes));

/** Words of an image, also such as look like lines of a frame. */
const aLine = fc.constantFrom(
  'words\n',
  '000001 YWJj\n',
  '-----\n',
  '-----BEGIN CERTIFICATE-----\n',
  '2026 started\n',
  '\n',
);

interface Log {
  readonly originals: readonly Original[];
  readonly pieces: readonly string[];
}

const aLog: fc.Arbitrary<Log> = fc.integer({ min: 1, max: 4 }).chain((count) =>
  fc
    .record({
      originals: fc.tuple(...Array.from({ length: count }, (_, index) => anOriginal(index))),
      encoding: fc.constantFrom('base64' as const, 'gzip+base64' as const),
      lineLength: fc.constantFrom(4, 76, 400, 7_992),
      words: fc.array(fc.array(aLine, { maxLength: 3 }), { minLength: count, maxLength: count }),
    })
    .map(({ originals, words, ...options }) => ({
      originals,
      pieces: originals.flatMap(({ name, content }, index) => [
        ...(words[index] ?? []),
        ...frame(name, content, options)
          .split(/(?<=\n)/)
          .filter((line) => line !== ''),
      ]),
    })),
);

async function read(log: Buffer, cuts: readonly number[]) {
  const files = new RunFiles({
    kinds: FILE_KINDS,
    limits: LIMITS,
    redact: [],
    openSpool: () => new FakeSpools().open(),
    turns: new Turns({ elapsed: () => 0 }).of('U0ROY'),
  });
  const text: Buffer[] = [];
  const accept = async (parts: readonly FramePart[]): Promise<void> => {
    for (const part of parts) {
      if (part.kind === 'text') text.push(Buffer.from(part.bytes));
      else await files.accept(part);
    }
  };
  const parser = new FrameParser(10_000_000);
  for (let from = 0, turn = 0; from < log.length; turn += 1) {
    const size = cuts[turn % Math.max(1, cuts.length)] ?? log.length;
    await accept(parser.push(Buffer.from(log.subarray(from, from + size))));
    from += size;
  }
  await accept(parser.end());
  const { listed, whole } = files.read;
  const delivered = new Map<string, Buffer>();
  for (const { file, spool } of whole) {
    const pieces: Uint8Array[] = [];
    for await (const piece of spool.read()) pieces.push(piece);
    delivered.set(file.name, Buffer.concat(pieces));
  }
  return { listed, delivered, text: Buffer.concat(text).toString('latin1') };
}

const someCuts = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 8 });

/** What a lost file, a broken connection, a second reading or an attack makes of the lines of a log. */
type Damage = (lines: readonly string[]) => string;

const somewhere = fc.double({ min: 0, max: 1, noNaN: true });

const someDamage: fc.Arbitrary<Damage> = fc
  .record({
    kind: fc.constantFrom('lose lines', 'lose bytes', 'repeat', 'begin late', 'end early', 'insert', 'flip', 'swap'),
    from: somewhere,
    to: somewhere,
    inserted: fc.oneof(
      aLine,
      fc.constant(frame('0.pcap', 'nested')),
      fc.constant('-----END KDEBUG FILE name=0.pcap lines=1-----\n'),
      fc.constant('-----BEGIN KDEBUG REPORT-----\n'),
      fc.string({ maxLength: 20 }),
    ),
  })
  .map(
    ({ kind, from, to, inserted }) =>
      (lines) =>
        damaged(lines, { kind, from, to, inserted }),
  );

function damaged(
  lines: readonly string[],
  { kind, from, to, inserted }: { kind: string; from: number; to: number; inserted: string },
): string {
  const text = lines.join('');
  const at = (share: number, length: number): number => Math.floor(share * length);
  const [first, last] = [Math.min(from, to), Math.max(from, to)];
  const middle = lines.slice(at(first, lines.length), at(last, lines.length));
  const [before, after] = [lines.slice(0, at(first, lines.length)), lines.slice(at(last, lines.length))];
  switch (kind) {
    case 'lose lines':
      return [...before, ...after].join('');
    case 'repeat':
      return [...before, ...middle, ...middle, ...after].join('');
    case 'swap':
      return [...middle, ...before, ...after].join('');
    case 'lose bytes':
      return text.slice(0, at(first, text.length)) + text.slice(at(last, text.length));
    case 'begin late':
      return text.slice(at(from, text.length));
    case 'end early':
      return text.slice(0, at(from, text.length));
    case 'insert':
      return [...before, inserted, ...middle, ...after].join('');
    default: {
      const index = at(from, text.length);
      return `${text.slice(0, index)}${text[index] === 'A' ? 'B' : 'A'}${text.slice(index + 1)}`;
    }
  }
}

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

describe('files through a log', () => {
  it('are equal, and the text is what was around them, however the log is cut', async () => {
    await fc.assert(
      fc.asyncProperty(aLog, someCuts, async ({ originals, pieces }, cuts) => {
        const { listed, delivered, text } = await read(Buffer.from(pieces.join(''), 'latin1'), cuts);
        expect(listed.map(({ name, problem }) => problem ?? name)).toEqual(originals.map(({ name }) => name));
        for (const { name, content } of originals) expect(delivered.get(name)?.equals(content)).toBe(true);
        const isOfFrame = linesOfFrames(pieces);
        expect(text).toBe(pieces.filter((_, index) => !isOfFrame[index]).join(''));
      }),
      { numRuns: 60 },
    );
  });

  it('are equal or not delivered, whatever happens to the log', async () => {
    await fc.assert(
      fc.asyncProperty(
        aLog,
        fc.array(someDamage, { minLength: 1, maxLength: 3 }),
        someCuts,
        async (log, damages, cuts) => {
          const { originals, pieces } = log;
          const broken = damages.reduce<readonly string[]>((lines, damage) => damage(lines).split(/(?<=\n)/), pieces);
          const { listed, delivered } = await read(Buffer.from(broken.join(''), 'latin1'), cuts);
          const known = new Map([...originals.map(({ name, content }) => [name, content] as const)]);
          for (const [name, content] of delivered) {
            const isNested = content.toString() === 'nested';
            expect(isNested || known.get(name)?.equals(content)).toBe(true);
            expect(listed).toContainEqual(expect.objectContaining({ name, sha256: sha256(content) }));
          }
          // Whoever lost a line of a file, with its marks still there, is told.
          for (const { name } of originals) {
            const isNamed = broken.some(
              (line) => line.startsWith('-----BEGIN KDEBUG FILE') && line.includes(`=${name} `),
            );
            if (isNamed) expect(listed.some((file) => file.name === name)).toBe(true);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

function linesOfFrames(lines: readonly string[]): readonly boolean[] {
  let isInside = false;
  return lines.map((line) => {
    if (line.startsWith('-----BEGIN KDEBUG FILE')) isInside = true;
    const isOfFrame = isInside;
    if (line.startsWith('-----END KDEBUG FILE')) isInside = false;
    return isOfFrame;
  });
}
