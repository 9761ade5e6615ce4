import { type LogScene, ROTATE_BYTES } from './log-scene.ts';

export interface Writer {
  /** Bytes a second, for each second of the container's life. */
  readonly rates: readonly number[];
  readonly readBytesPerSecond: number;
  readonly cutsLines: boolean;
}

export function aWriter(random: () => number): Writer {
  const seconds = 20 + Math.floor(random() * 40);
  const bursts = random() < 0.5;
  const top = 5_000 + random() * 60_000;
  const rates = Array.from({ length: seconds }, () => (bursts && random() < 0.4 ? 0 : top * (0.3 + random())));
  return { rates, readBytesPerSecond: 8_000 + random() * 60_000, cutsLines: random() < 0.5 };
}

/** A container writes and its kubelet looks every 10 s whether to rotate, at a phase that has nothing to do with the start. */
export async function live(scene: LogScene, writer: Writer): Promise<void> {
  const { kubelet, random, clock } = scene;
  let line = 0;
  let nextLookMs = clock.now() + 3_500 + random() * 6_500;
  const write = (): number => {
    line += 1;
    const text = `${line} ${'x'.repeat(Math.floor(random() * 160))}`;
    // Two streams: the stamps step back by a few milliseconds.
    kubelet.write(text, clock.now() + Math.floor(random() * 8));
    return text.length + 41;
  };
  for (const rate of writer.rates) {
    for (let step = 0; step < 20; step += 1) {
      for (let left = rate / 20; left > 0; ) left -= write();
      if (clock.now() >= nextLookMs) {
        nextLookMs += 10_000;
        if (kubelet.newestFileBytes > ROTATE_BYTES) {
          if (writer.cutsLines) kubelet.write(`${line + 1} cut `, clock.now() + 8, true);
          kubelet.rotate();
          if (writer.cutsLines) kubelet.write('in two parts', clock.now() + 3);
          if (writer.cutsLines) line += 1;
        }
      }
      await scene.pass(50, writer.readBytesPerSecond);
    }
  }
}

/** Connections break, or end in the middle as if in good order, at random. */
export function setBreaks(scene: LogScene): { stop(): void } {
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

/** The way to the node is stuck for a while, again and again: nothing is sent, and nothing breaks. */
export function setStalls(scene: LogScene): { stop(): void } {
  let takeBack = (): void => {};
  const later = (isStuck: boolean): void => {
    const ms = isStuck ? 500 + scene.random() * 5_000 : 3_000 + scene.random() * 12_000;
    takeBack = scene.clock.after(ms, () => {
      scene.kubelet.isStuck = !isStuck;
      later(!isStuck);
    });
  };
  later(false);
  return {
    stop: () => {
      takeBack();
      scene.kubelet.isStuck = false;
    },
  };
}
