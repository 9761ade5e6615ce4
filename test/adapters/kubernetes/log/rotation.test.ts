import { describe, expect, test } from 'vitest';
import { LogScene } from '../support/log-scene.ts';
import { aWriter, live } from '../support/log-writer.ts';

const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);
const PROVEN_COMPLETE = { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] };

describe('a log that is rotated while it is read', () => {
  test.each(SEEDS)('has every line once and in order, whoever is faster (seed %i)', async (seed) => {
    const scene = new LogScene({ seed });
    const writer = aWriter(scene.random);
    await live(scene, writer);
    await scene.end();

    const completeness = await scene.finish(writer.readBytesPerSecond);

    expect(scene.content === scene.truth).toBe(true);
    expect({ ...completeness, complete: true, gaps: [] }).toEqual(PROVEN_COMPLETE);
    expect(scene.kubelet.openReaders).toBe(0);
  });

  test.each(SEEDS)('is never called complete when connections broke and something is missing (seed %i)', async (seed) => {
    const scene = new LogScene({ seed: seed + 1_000 });
    const writer = aWriter(scene.random);
    const breaking = setBreaks(scene);
    await live(scene, writer);
    breaking.stop();
    await scene.end();

    const completeness = await scene.finish(writer.readBytesPerSecond);

    if (completeness.complete) expect(scene.content === scene.truth).toBe(true);
    expect(hasNoRepeatedLine(scene.content)).toBe(true);
  });
});

function setBreaks(scene: LogScene): { stop(): void } {
  let takeBack = (): void => {};
  const later = (): void => {
    takeBack = scene.clock.after(1_000 + scene.random() * 15_000, () => {
      if (scene.random() < 0.7) scene.kubelet.breakAll();
      else scene.kubelet.cutAll();
      later();
    });
  };
  later();
  return { stop: () => takeBack() };
}

function hasNoRepeatedLine(content: string): boolean {
  const numbers = content.split('\n').map((line) => line.split(' ')[0] ?? '');
  const numbered = numbers.filter((number) => /^\d+$/.test(number));
  return new Set(numbered).size === numbered.length;
}
