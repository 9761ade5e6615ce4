import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { FILE_KINDS } from '../../../src/core/container/file-kinds.ts';
import { FrameParser } from '../../../src/core/files/frame-parser.ts';
import type { FramePart } from '../../../src/core/files/frame-parts.ts';
import { type FileSinks, RunFiles } from '../../../src/flow/log/run-files.ts';
import type { Spool } from '../../../src/flow/ports/machine.ts';
import { Turns } from '../../../src/lib/turns.ts';
import { frame } from '../../support/frames.ts';
import { FakeSpools } from '../support/fakes.ts';

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

class Taking {
  readonly spools = new FakeSpools();
  opened = 0;
  readonly removed: Spool[] = [];
  readonly files: RunFiles;

  constructor(change: Partial<FileSinks> = {}) {
    const { spools, removed } = this;
    this.files = new RunFiles({
      kinds: FILE_KINDS,
      limits: { maxFileBytes: 100_000, maxFiles: 3, maxFilesBytes: 150_000 },
      redact: ['CUSTOMER-[0-9]+'],
      openSpool: async () => {
        const spool = await spools.open();
        this.opened += 1;
        const remove = spool.remove.bind(spool);
        spool.remove = () => {
          removed.push(spool);
          return remove();
        };
        return spool;
      },
      turns: new Turns({ elapsed: () => 0 }).of('U0ROY'),
      ...change,
    });
  }

  async read(log: string, chunkBytes = 4_000): Promise<this> {
    const parser = new FrameParser(1_000_000);
    const bytes = Buffer.from(log);
    for (let from = 0; from < bytes.length; from += chunkBytes)
      await this.#take(parser.push(Buffer.from(bytes.subarray(from, from + chunkBytes))));
    await this.#take(parser.end());
    return this;
  }

  async #take(parts: readonly FramePart[]): Promise<void> {
    for (const part of parts) if (part.kind !== 'text') await this.files.accept(part);
  }

  /** Name and content of what may be delivered. */
  async contents(): Promise<Readonly<Record<string, Buffer>>> {
    const read = this.files.read.whole.map(async ({ file, spool }) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of spool.read()) pieces.push(piece);
      const content = Buffer.concat(pieces);
      expect(file).toMatchObject({ bytes: content.length, sha256: sha256(content) });
      return [file.name, content] as const;
    });
    return Object.fromEntries(await Promise.all(read));
  }

  get problems(): readonly string[] {
    return this.files.read.listed.map(({ name, problem }) => `${name} ${problem ?? 'whole'}`);
  }
}

const read = (log: string, change?: Partial<FileSinks>): Promise<Taking> => new Taking(change).read(log);

const BINARY = Buffer.from(Array.from({ length: 50_000 }, (_, index) => (index * 7919) % 256));

describe('RunFiles', () => {
  it.each(['base64', 'gzip+base64'] as const)('takes files whole from %s', async (encoding) => {
    const taking = await read(
      frame('a.pcap', BINARY, { encoding }) +
        frame('b.txt', 'one\ntwo', { encoding }) +
        frame('c.txt', '', { encoding }),
    );
    expect(taking.problems).toEqual(['a.pcap whole', 'b.txt whole', 'c.txt whole']);
    expect(await taking.contents()).toEqual({
      'a.pcap': BINARY,
      'b.txt': Buffer.from('one\ntwo'),
      'c.txt': Buffer.alloc(0),
    });
    expect(taking.files.read.listed[0]).toEqual({
      name: 'a.pcap',
      kind: 'capture',
      bytes: 50_000,
      sha256: sha256(BINARY),
      isRedacted: false,
    });
  });

  it('redacts texts after it has checked them, and says so', async () => {
    const secret = 'CUSTOMER-42 password=hunter2hunter2\n';
    const taking = await read(frame('a.txt', secret) + frame('a.pcap', secret));
    const contents = await taking.contents();
    expect(contents['a.txt']?.toString()).not.toMatch(/42|hunter2/);
    expect(contents['a.pcap']?.toString()).toBe(secret);
    expect(taking.files.read.listed.map(({ isRedacted }) => isRedacted)).toEqual([true, false]);
    expect(taking.files.read.redactions).toBeGreaterThan(0);
  });

  it.each<[string, string, string]>([
    ['other content', frame('a.txt', 'abc').replace('YWJj', 'YWJk'), 'a.txt wrong-hash'],
    ['more bytes than announced', frame('a.txt', 'abc').replace('bytes=3', 'bytes=2'), 'a.txt wrong-hash'],
    ['fewer bytes than announced', frame('a.txt', 'abc').replace('bytes=3', 'bytes=4'), 'a.txt wrong-hash'],
    ['no gzip', frame('a.txt', 'abc').replace('encoding=base64', 'encoding=gzip+base64'), 'a.txt wrong-hash'],
    ['a missing line', frame('a.txt', BINARY).replace(/^000003.*\n/m, ''), 'a.txt incomplete'],
    ['no end', frame('a.txt', BINARY).replace(/-----END.*\n/, ''), 'a.txt incomplete'],
    ['a file over the limit', frame('a.txt', 'x'.repeat(100_001)), 'a.txt too-large'],
    ['a name in capitals', frame('A.txt', 'abc'), 'A.txt bad-name'],
    ['a name with a path', frame('../../etc/a.txt', 'abc'), '.._.._etc_a.txt bad-name'],
    ['a name of markup', frame('<!channel>.txt', 'abc'), '__channel_.txt bad-name'],
    ['a long name', frame(`${'a'.repeat(70)}.txt`, 'abc'), `${'a'.repeat(64)} bad-name`],
    ['an unknown ending', frame('a.exe', 'abc'), 'a.exe kind-not-allowed'],
  ])('delivers nothing of %s', async (_, log, problem) => {
    const taking = await read(log);
    expect(taking.problems).toEqual([problem]);
    expect(taking.files.read.whole).toEqual([]);
    expect(taking.removed).toHaveLength(taking.opened);
  });

  it('takes only the kinds that the policy names', async () => {
    const taking = await read(frame('a.txt', 'a') + frame('a.pcap', 'a'), { kinds: ['text'] });
    expect(taking.problems).toEqual(['a.txt whole', 'a.pcap kind-not-allowed']);
  });

  it('refuses a name that it has had', async () => {
    const taking = await read(frame('a.txt', 'a') + frame('a.txt', 'b'));
    expect(taking.problems).toEqual(['a.txt whole', 'a.txt bad-name']);
    expect(await taking.contents()).toEqual({ 'a.txt': Buffer.from('a') });
  });

  it('takes as many files and bytes as the policy allows, and lists few more', async () => {
    const many = Array.from({ length: 100 }, (_, index) => frame(`${index}.txt`, 'x')).join('');
    const taking = await read(many);
    expect(taking.files.read.whole).toHaveLength(3);
    expect(taking.problems).toHaveLength(11);
    expect(taking.problems.slice(3)).toEqual(Array.from({ length: 8 }, (_, index) => `${index + 3}.txt too-many`));
    const large = ['a', 'b'].map((name) => frame(`${name}.txt`, 'x'.repeat(80_000))).join('');
    expect((await read(large)).problems).toEqual(['a.txt whole', 'b.txt too-large']);
  });

  it('unpacks no more than the file announces', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000), { level: 9 });
    const base64 = bomb.toString('base64');
    const lines = base64.match(/.{1,7992}/g) ?? [];
    const header = `-----BEGIN KDEBUG FILE name=a.txt bytes=1000 sha256=${sha256('')} encoding=gzip+base64-----\n`;
    const log = `${header}${lines.map((line, index) => `${String(index + 1).padStart(6, '0')} ${line}\n`).join('')}-----END KDEBUG FILE name=a.txt lines=${lines.length}-----\n`;
    let written = 0;
    const spools = new FakeSpools();
    const openSpool = async (): Promise<Spool> => {
      const spool = await spools.open();
      const write = spool.write.bind(spool);
      spool.write = (chunk) => {
        written += chunk.length;
        return write(chunk);
      };
      return spool;
    };
    const taking = await read(log, { openSpool });
    expect(taking.problems).toEqual(['a.txt wrong-hash']);
    expect(written).toBeLessThanOrEqual(1_000);
  });

  it.each(['open', 'write', 'finish'] as const)('goes on without a file whose spool fails at %s', async (step) => {
    const spools = new FakeSpools();
    let opened = 0;
    const openSpool = async (): Promise<Spool> => {
      opened += 1;
      if (step === 'open' && opened === 1) throw new Error('no file');
      const spool = await spools.open();
      if (opened === 1 && step !== 'open') Object.assign(spool, { [step]: () => Promise.reject(new Error('full')) });
      return spool;
    };
    const taking = await read(frame('a.txt', 'a\n') + frame('b.txt', 'b\n'), { openSpool });
    expect(taking.problems).toEqual(['a.txt spool-full', 'b.txt whole']);
  });

  it('goes on after a file that is wrong and whose spool cannot be removed', async () => {
    const spools = new FakeSpools();
    const openSpool = async (): Promise<Spool> =>
      Object.assign(await spools.open(), { remove: () => Promise.reject(new Error('EIO')) });
    const taking = await read(frame('a.txt', 'a\n').replace(sha256('a\n'), sha256('b\n')) + frame('b.txt', 'b\n'), {
      openSpool,
    });
    expect(taking.problems).toEqual(['a.txt wrong-hash', 'b.txt whole']);
  });
});
