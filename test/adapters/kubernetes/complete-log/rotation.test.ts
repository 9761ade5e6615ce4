import { describe, expect, it } from 'vitest';
import { START_MS } from '../../../support/builders.ts';
import { sampleOf } from '../../../support/sample.ts';
import { LogScene } from '../support/log-scene.ts';
import { aWriter, live, setBreaks, setStalls } from '../support/log-writer.ts';
import type { SimulatedKubelet } from '../support/simulated-kubelet.ts';

const SEEDS = sampleOf(
  'seeds of rotated logs',
  Array.from({ length: 20 }, (_, index) => index + 1),
  2,
);
const PROVEN_COMPLETE = { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] };

describe('a log that is rotated while it is read', () => {
  it.each([300, 1_500, 2_900])(
    'whose first file is lost says so, also when it was opened %i ms after the start',
    async (ms) => {
      const text = (line: number) => `${line} ${'x'.repeat(100)}`;
      const before = (kubelet: SimulatedKubelet) => {
        for (let line = 1; line <= 1_500; line += 1) kubelet.write(text(line), START_MS - 1);
        kubelet.written.length = 0;
        kubelet.rotate();
      };
      const scene = new LogScene({ request: { startedAtMs: START_MS - ms }, before });
      for (let line = 1; line <= 1_500; line += 1)
        scene.kubelet.write(text(line), START_MS + Math.floor((line * ms) / 1_500));
      await scene.pass(ms + 50);
      await scene.end();

      const completeness = await scene.finish();

      expect(scene.content).toBe(scene.truth);
      expect(completeness).toMatchObject({ complete: false, beginningMayBeMissing: true });
    },
  );

  describe('when a container ended before anyone could follow it, and what is left is small', () => {
    const TEXT = 'x'.repeat(100);

    /** Lines written evenly from `fromMs` to `toMs` after the start; `lost`: those of a first file. */
    async function read({
      lines,
      fromMs,
      toMs,
      lost = 0,
    }: Record<'lines' | 'fromMs' | 'toMs', number> & { lost?: number }) {
      const before = (kubelet: SimulatedKubelet) => {
        const write = (count: number, from: number, to: number) => {
          for (let line = 0; line < count; line += 1)
            kubelet.write(TEXT, from + Math.floor((line * (to - from)) / count));
        };
        write(lost, START_MS, START_MS + fromMs);
        kubelet.written.length = 0;
        if (lost > 0) kubelet.rotate();
        write(lines, START_MS + fromMs, START_MS + toMs);
      };
      const scene = new LogScene({ request: { startedAtMs: START_MS, terminated: true }, before });
      await scene.end(0);
      const { complete, beginningMayBeMissing } = await scene.finish();
      expect(scene.content).toBe(scene.truth);
      return { complete, beginningMayBeMissing };
    }

    it('says so, as the rest came so fast that a file may have been full before it', async () => {
      expect(await read({ lost: 1_500, lines: 300, fromMs: 400, toMs: 480 })).toEqual({
        complete: false,
        beginningMayBeMissing: true,
      });
    });

    it.each([
      ['came too slowly for that', { lines: 300, fromMs: 400, toMs: 2_400 }],
      ['came at once', { lines: 300, fromMs: 5, toMs: 80 }],
      ['is a few lines', { lines: 15, fromMs: 400, toMs: 401 }],
    ])('does not say so when the log %s', async (_, log) => {
      expect(await read(log)).toEqual({ complete: true, beginningMayBeMissing: false });
    });
  });

  it.each([
    [1_000, 'not doubted', false],
    [200, 'doubted', true],
  ])('whose lines came all at once, %i ms after a follow had opened, is %s', async (ms, _, beginningMayBeMissing) => {
    const scene = new LogScene();
    await scene.pass(ms);
    for (let line = 1; line <= 300; line += 1) scene.kubelet.write('x'.repeat(100));
    await scene.end();

    expect(await scene.finish()).toMatchObject({ complete: !beginningMayBeMissing, beginningMayBeMissing });
  });

  it.each(SEEDS)('has every line once and in order, whoever is faster (seed %i)', async (seed) => {
    const scene = new LogScene({ seed });
    const writer = aWriter(scene.random);
    await live(scene, writer);
    await scene.end(Math.floor(scene.random() * 1_200), writer.readBytesPerSecond);

    const completeness = await scene.finish(writer.readBytesPerSecond);

    // A rotation may cut a line; a follow that jumps over a whole file afterwards then spoils that one line, which is said.
    const isSpoilt = writer.cutsLines && completeness.gaps.length > 0;
    expect(scene.content === scene.truth || (isSpoilt && repeatedNumbers(scene.content).length === 0)).toBe(true);
    // Of a container that was silent at first nobody can say whether it was.
    const beganAtOnce = writer.rates[0] !== 0;
    const { beginningMayBeMissing } = completeness;
    expect({ ...completeness, complete: true, gaps: [] }).toEqual({
      ...PROVEN_COMPLETE,
      beginningMayBeMissing: beginningMayBeMissing && !beganAtOnce,
    });
    expect(scene.kubelet.openReaders).toBe(0);
  });

  it.each(SEEDS)(
    'is never called complete when the way to the node was stuck and something is missing (seed %i)',
    async (seed) => {
      const scene = new LogScene({ seed: seed + 2_000 });
      const writer = aWriter(scene.random);
      const stalls = setStalls(scene);
      await live(scene, writer);
      stalls.stop();
      await scene.end();

      const completeness = await scene.finish(writer.readBytesPerSecond);

      if (completeness.complete) expect(scene.content === scene.truth).toBe(true);
      expect(repeatedNumbers(scene.content)).toEqual([]);
    },
  );

  it.each(SEEDS)('is never called complete when connections broke and something is missing (seed %i)', async (seed) => {
    const scene = new LogScene({ seed: seed + 1_000 });
    const writer = aWriter(scene.random);
    const breaking = setBreaks(scene);
    await live(scene, writer);
    breaking.stop();
    await scene.end();

    const completeness = await scene.finish(writer.readBytesPerSecond);

    if (completeness.complete) expect(scene.content === scene.truth).toBe(true);
    expect(repeatedNumbers(scene.content)).toEqual([]);
  });

  it.each(SEEDS)('has nothing of what a node without inotify instances writes behind it (seed %i)', async (seed) => {
    const watchError = 'failed to create fsnotify watcher: too many open files';
    const before = (kubelet: SimulatedKubelet) => Object.assign(kubelet, { watchError });
    const scene = new LogScene({ seed: seed + 3_000, before });
    const writer = aWriter(scene.random);
    await live(scene, writer);
    await scene.end();

    const completeness = await scene.finish(writer.readBytesPerSecond);

    if (completeness.complete) expect(scene.content === scene.truth).toBe(true);
    expect(repeatedNumbers(scene.content)).toEqual([]);
    expect(scene.content.includes('failed')).toBe(false);
  });
});

/** Lines begin with their number; one that a break tore within its number has no space behind it. */
function repeatedNumbers(content: string): readonly string[] {
  const seen = new Set<string>();
  const numbers = content.split('\n').flatMap((line) => /^\d+(?= )/.exec(line)?.[0] ?? []);
  return numbers.filter((number) => seen.size === seen.add(number).size);
}
