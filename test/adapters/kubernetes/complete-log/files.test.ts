import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { FILE_KINDS } from '../../../../src/core/container/file-kinds.ts';
import { FrameParser } from '../../../../src/core/files/frame-parser.ts';
import { RunFiles } from '../../../../src/flow/log/run-files.ts';
import { Turns } from '../../../../src/lib/turns.ts';
import { FakeSpools } from '../../../flow/support/fakes.ts';
import { frame } from '../../../support/frames.ts';
import { sampleOf } from '../../../support/sample.ts';
import { LogScene, ROTATE_BYTES } from '../support/log-scene.ts';
import { setBreaks, setStalls } from '../support/log-writer.ts';

const SEEDS = sampleOf(
  'seeds of logs with files',
  Array.from({ length: 20 }, (_, index) => index + 1),
  4,
);

/** A container that writes words, its files and a last word; the kubelet rotates at its own times. */
async function write(scene: LogScene, files: ReadonlyMap<string, Buffer>): Promise<void> {
  const { kubelet, clock, random } = scene;
  const text = [...files].map(([name, content]) => frame(name, content, { lineLength: 2_000 })).join('');
  const lines = `words\n${text}the end\n`.split('\n').slice(0, -1);
  let nextLookMs = clock.now() + 3_500 + random() * 6_500;
  for (const line of lines) {
    kubelet.write(line, clock.now() + Math.floor(random() * 3));
    if (random() < 0.7) await scene.pass(50 + Math.floor(random() * 4) * 50, 20_000 + random() * 100_000);
    if (clock.now() < nextLookMs) continue;
    nextLookMs += 10_000;
    if (kubelet.newestFileBytes > ROTATE_BYTES) kubelet.rotate();
  }
}

const someFiles = (random: () => number): ReadonlyMap<string, Buffer> =>
  new Map(
    Array.from(
      { length: 3 },
      (_, index) => [`${index}.pcap`, randomBytes(50_000 + Math.floor(random() * 150_000))] as const,
    ),
  );

async function filesIn(content: Buffer) {
  const files = new RunFiles({
    kinds: FILE_KINDS,
    limits: { maxFileBytes: 1e6, maxFiles: 8, maxFilesBytes: 1e7 },
    redact: [],
    openSpool: () => new FakeSpools().open(),
    turns: new Turns({ elapsed: () => 0 }).of('U0ROY'),
  });
  const parser = new FrameParser(1e9);
  const text: Buffer[] = [];
  for (const part of [...parser.push(content), ...parser.end()]) {
    if (part.kind === 'text') text.push(part.bytes);
    else await files.accept(part);
  }
  const { listed, whole } = files.read;
  const delivered = await Promise.all(
    whole.map(async ({ file, spool }) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of spool.read()) pieces.push(piece);
      return [file.name, Buffer.concat(pieces)] as const;
    }),
  );
  return { listed, delivered: new Map(delivered), text: Buffer.concat(text).toString() };
}

describe('files in a log that is rotated while it is read', () => {
  let rotations = 0;
  afterAll(() => expect(rotations).toBeGreaterThan(0));

  it.each(SEEDS)('are all there and equal (seed %i)', async (seed) => {
    const scene = new LogScene({ seed });
    const files = someFiles(scene.random);
    await write(scene, files);
    await scene.end();
    await scene.finish();
    const { listed, delivered, text } = await filesIn(Buffer.concat(scene.taken));
    expect(listed.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined]);
    for (const [name, content] of files) expect(delivered.get(name)?.equals(content)).toBe(true);
    expect(text).toBe('words\nthe end\n');
    rotations += scene.kubelet.rotations;
  });

  it.each(SEEDS.flatMap((seed) => [setBreaks, setStalls].map((trouble) => [trouble.name, seed, trouble] as const)))(
    'are equal or called incomplete with %s (seed %i)',
    async (_, seed, trouble) => {
      const scene = new LogScene({ seed: seed + 500 });
      const files = someFiles(scene.random);
      const running = trouble(scene);
      await write(scene, files);
      running.stop();
      await scene.end();
      const completeness = await scene.finish();
      const { listed, delivered } = await filesIn(Buffer.concat(scene.taken));
      for (const [name, content] of delivered) expect(files.get(name)?.equals(content)).toBe(true);
      if (completeness.complete) expect(delivered.size).toBe(files.size);
      for (const { name, problem } of listed) expect(delivered.has(name) || problem === 'incomplete').toBe(true);
    },
  );

  it('are called incomplete by a reading after the end, which the node rotated before', async () => {
    const before = ({ kubelet }: Pick<LogScene, 'kubelet'>): void => {
      const lines = frame('0.pcap', randomBytes(60_000)).split('\n').slice(0, -1);
      for (const [index, line] of lines.entries()) {
        kubelet.write(line);
        if (index === 4) kubelet.rotate();
      }
      kubelet.isRunning = false;
    };
    const scene = new LogScene({ request: { terminated: true }, before: (kubelet) => before({ kubelet }) });
    await scene.end();
    await scene.finish();
    const { listed, delivered, text } = await filesIn(Buffer.concat(scene.taken));
    expect(listed).toEqual([expect.objectContaining({ name: '0.pcap', problem: 'incomplete' })]);
    expect(delivered.size).toBe(0);
    expect(text).toBe('');
  });
});
