import { describe, expect, it } from 'vitest';
import {
  hashHead,
  LineEnd,
  type LineKey,
  type Stamp,
} from '../../../../src/adapters/kubernetes/complete-log/line-identity.ts';
import { LineMerger } from '../../../../src/adapters/kubernetes/complete-log/line-merger.ts';
import { LineReader, type StreamStart } from '../../../../src/adapters/kubernetes/complete-log/line-reader.ts';
import { BlockWriter } from '../../../../src/adapters/kubernetes/complete-log/log-output.ts';
import { LOG_TIMES } from '../../../../src/adapters/kubernetes/complete-log/log-times.ts';

const SECONDS = Date.UTC(2026, 10, 21, 7, 30) / 1_000;

/** `ms` after half past seven. */
const at = (ms: number): Stamp => ({ seconds: SECONDS + Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 });

const key = (ms: number, text: string): LineKey => ({
  ...at(ms),
  hash: hashHead(Buffer.from(text), 0, text.length),
});

const raw = (ms: number, text: string): string => {
  const { seconds, nanos } = at(ms);
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0')}Z ${text}`;
};

const line = (ms: number, text: string): string => `${raw(ms, text)}\n`;

function endOf(text: string): LineEnd {
  const end = new LineEnd();
  end.add(Buffer.from(text), 0, text.length);
  return end;
}

const UNKNOWN: StreamStart = { isBroken: false, first: [], firstEnd: undefined, jumpedTo: undefined };

class Scene {
  readonly output = new BlockWriter(1e6);
  readonly merger: LineMerger;
  #reader = new LineReader({ mayBeginWithin: false });
  #text = '';

  constructor(rotatedBytes = 0) {
    this.merger = new LineMerger(this.output, { ...LOG_TIMES, rotatedBytes });
  }

  /** Reads on in the stream; false when the merger stops it. */
  read(text: string): boolean {
    this.#reader.needsHead = this.merger.needsHead;
    return this.#reader.read(Buffer.from(text), this.merger);
  }

  startOver(text: string, start: Partial<StreamStart> = {}): boolean {
    this.#reader = new LineReader({ mayBeginWithin: false });
    this.merger.startOver({ ...UNKNOWN, ...start });
    return this.read(text);
  }

  startAfter(lines: number, text: string): boolean {
    this.#reader = new LineReader({ mayBeginWithin: false });
    this.merger.startAfter(lines);
    return this.read(text);
  }

  end(): void {
    this.merger.isReadingEnd = true;
    this.#reader.finish(this.merger);
    this.merger.isReadingEnd = false;
  }

  get content(): string {
    this.#text += Buffer.concat(this.output.blocks().blocks).toString();
    return this.#text;
  }

  get gaps(): number {
    const end = { limitReached: false, beginningMayBeMissing: false, interruptedBy: undefined };
    return this.merger.completeness.result(end).gaps.length;
  }
}

describe('a second stream', () => {
  it('repeats nothing, adds what is new, and keeps equal lines as often as they are there', () => {
    const scene = new Scene();
    scene.read(line(1, 'a') + line(2, 'twin') + line(2, 'twin') + line(3, 'b'));
    scene.startOver(line(2, 'twin') + line(2, 'twin') + line(2, 'twin') + line(3, 'b') + line(4, 'c'));
    expect(scene.content).toBe('a\ntwin\ntwin\nb\ntwin\nc\n');
    expect(scene.gaps).toBe(0);
  });

  it('whose stamps step back is delivered: no line is dropped for its age', () => {
    const scene = new Scene();
    scene.read(line(50, 'a') + line(60, 'b'));
    scene.startOver(line(55, 'new') + line(60, 'b') + line(61, 'c'));
    expect(scene.content).toBe('a\nb\nnew\nc\n');
  });

  it('with another content under the same stamp is another line', () => {
    const scene = new Scene();
    scene.read(line(1, 'a'));
    scene.startOver(line(1, 'b'));
    expect(scene.content).toBe('a\nb\n');
  });

  it('of which so many lines were delivered is read from there on, as it is', () => {
    const scene = new Scene();
    scene.read(line(1, 'a') + line(2, 'b'));
    scene.startAfter(2, line(1, 'a') + line(2, 'b') + line(2, 'b') + line(3, 'c'));
    expect(scene.content).toBe('a\nb\nb\nc\n');
  });

  it('goes on in the middle of the line that the first left', () => {
    const scene = new Scene();
    scene.read(line(1, 'a') + raw(2, 'half'));
    expect(scene.merger.isWithinLine).toBe(true);
    scene.startOver(line(1, 'a') + line(2, 'half and half'), { isBroken: true });
    expect(scene.content).toBe('a\nhalf and half\n');
    expect(scene.merger.isWithinLine).toBe(false);
    expect(scene.gaps).toBe(0);
  });

  it('repeats a long open line in pieces, and only its rest is new', () => {
    const scene = new Scene();
    scene.read(raw(2, 'x'.repeat(400)));
    scene.startOver(raw(2, 'x'.repeat(300)));
    scene.read('x'.repeat(50));
    scene.read(`${'x'.repeat(50)} rest\n`);
    expect(scene.content).toBe(`${'x'.repeat(400)} rest\n`);
  });

  it('that brings another line under the stamp of an open one ends nothing of it', () => {
    const scene = new Scene();
    scene.read(raw(2, 'half'));
    scene.startOver(line(2, 'other'));
    expect(scene.content).toBe('halfother\n');
  });

  it('shows its heads only until it is past what was delivered', () => {
    const scene = new Scene();
    scene.read(line(0, 'a'));
    scene.startOver(line(0, 'a') + line(1_000, 'b'));
    expect(scene.merger.needsHead).toBe(true);
    scene.read(line(1_001, 'c'));
    expect(scene.merger.needsHead).toBe(false);
    expect(scene.content).toBe('a\nb\nc\n');
  });
});

describe('a connection that broke', () => {
  it('and whose next stream repeats a line leaves no gap', () => {
    const scene = new Scene();
    scene.read(line(1, 'a') + line(2, 'b'));
    scene.startOver(line(2, 'b') + line(3, 'c'), { isBroken: true });
    expect(scene.gaps).toBe(0);
    expect(scene.content).toBe('a\nb\nc\n');
  });

  it('and whose next stream repeats only the open line leaves no gap', () => {
    const scene = new Scene(1e6);
    scene.read(raw(2, 'half'));
    scene.startOver(line(2, 'half and half') + line(3, 'c'), { isBroken: true });
    expect(scene.gaps).toBe(0);
    expect(scene.content).toBe('half and half\nc\n');
  });

  it('and whose next stream repeats nothing leaves a gap, and no half line', () => {
    const scene = new Scene(1e6);
    scene.read(line(1, 'a') + raw(2, 'half'));
    scene.startOver(line(3, 'c') + line(4, 'd'), { isBroken: true });
    expect(scene.gaps).toBe(1);
    expect(scene.content).toBe('a\nhalf\nc\nd\n');
  });

  it('is remembered until a later stream repeats something', () => {
    const scene = new Scene(1e6);
    scene.read(line(1, 'a'));
    scene.startOver('', { isBroken: true });
    scene.startOver(line(2, 'b'));
    expect(scene.gaps).toBe(1);
  });

  it('is forgotten when the next stream is known to go on', () => {
    const scene = new Scene(1e6);
    scene.read(line(1, 'a'));
    scene.startOver('', { isBroken: true });
    scene.startAfter(1, line(1, 'a') + line(2, 'b'));
    expect(scene.gaps).toBe(0);
    expect(scene.content).toBe('a\nb\n');
  });
});

describe('a line that a rotation cut in two', () => {
  const HALF = 'the second half';

  it('is glued when its rest comes under a stamp of its own', () => {
    const scene = new Scene();
    scene.read(raw(1, 'first, '));
    scene.end();
    scene.startOver(line(2, HALF) + line(3, 'b'));
    expect(scene.content).toBe(`first, ${HALF}\nb\n`);
    expect(scene.merger.hasDelivered(key(1, 'first, '))).toBe(true);
  });

  it.each<[string, Partial<StreamStart>, string]>([
    ['delivered the second line', { first: [key(5, HALF), key(2, 'b')] }, ''],
    ['was stopped at the second line', { first: [key(5, HALF), key(9, 'x')], jumpedTo: at(9) }, ''],
    ['knows only the first, and ends like it', { first: [key(5, HALF)], firstEnd: endOf(HALF) }, ''],
    ['was stopped elsewhere', { first: [key(5, HALF), key(9, 'x')], jumpedTo: at(8) }, `${HALF}\n`],
    ['does not know the second line', { first: [key(5, HALF), key(9, 'x')] }, `${HALF}\n`],
    ['ends otherwise', { first: [key(5, HALF)], firstEnd: endOf('another second half') }, `${HALF}\n`],
    ['knows no line', {}, `${HALF}\n`],
  ])('and was delivered whole is not repeated by a next stream when the first %s', (_, start, repeated) => {
    const scene = new Scene();
    scene.read(line(2, 'b') + line(1, `first, ${HALF}`));
    scene.startOver(line(5, HALF), start);
    expect(scene.content).toBe(`b\nfirst, ${HALF}\n${repeated}`);
  });

  it('is no such line when the first line was delivered as its own', () => {
    const scene = new Scene();
    scene.read(line(1, 'a') + line(2, 'b'));
    scene.startOver(line(1, 'a') + line(1, 'a'), { first: [key(1, 'a'), key(2, 'b')] });
    expect(scene.content).toBe('a\nb\na\n');
  });
});

describe('the front, when the next stream is known', () => {
  const NEXT = [key(10, 'n1'), key(20, 'n2')];

  it.each([
    [1, line(1, 'a') + line(10, 'n1')],
    [2, line(1, 'a') + line(20, 'n2')],
  ])('stops behind its line %i', (lines, text) => {
    const scene = new Scene();
    scene.merger.expect(NEXT);
    expect(scene.read(text + line(30, 'beyond'))).toBe(false);
    expect(scene.merger.stop).toEqual({ kind: 'met', lines });
    expect(scene.content).not.toContain('beyond');
  });

  it('goes on at the same stamp with another content', () => {
    const scene = new Scene();
    scene.merger.expect(NEXT);
    expect(scene.read(line(10, 'other'))).toBe(true);
    expect(scene.merger.stop).toBeUndefined();
  });

  it('stops before a line that is more than a second beyond', () => {
    const scene = new Scene();
    scene.merger.expect(NEXT);
    expect(scene.read(line(1_010, 'within'))).toBe(true);
    expect(scene.read(line(1_011, 'beyond'))).toBe(false);
    expect(scene.merger.stop).toEqual({ kind: 'jumped', to: at(1_011) });
    expect(scene.content).toBe('within\n');
  });

  it('waits at a line after a long step until the next stream shows itself', () => {
    const scene = new Scene();
    scene.merger.expect(undefined);
    scene.read(line(0, 'a') + line(6_999, 'b'));
    expect(scene.merger.isHeld).toBe(false);
    scene.read(line(13_999, 'c') + line(14_000, 'd'));
    expect(scene.merger.isHeld).toBe(true);
    expect(scene.content).toBe('a\nb\n');

    scene.merger.expect([]);
    expect(scene.merger.isHeld).toBe(false);
    scene.read('');
    expect(scene.content).toBe('a\nb\nc\nd\n');
  });

  it('that takes over from one that waited does not wait itself', () => {
    const scene = new Scene();
    scene.merger.expect(undefined);
    scene.read(line(0, 'a') + line(7_000, 'b'));
    expect(scene.merger.isHeld).toBe(true);
    scene.merger.startOver(UNKNOWN);
    scene.merger.expect(undefined);
    expect(scene.merger.isHeld).toBe(false);
  });

  it('does not wait at its very first line', () => {
    const scene = new Scene();
    scene.merger.expect(undefined);
    scene.read(line(0, 'a'));
    expect(scene.content).toBe('a\n');
  });
});

describe('the end of a stream', () => {
  it('that is cut in a line which was delivered repeats nothing of it', () => {
    const scene = new Scene();
    scene.read(line(1, 'a') + line(2, 'a long line'));
    scene.startOver(raw(2, 'a lo'));
    scene.end();
    expect(scene.content).toBe('a\na long line\n');
  });

  it('that is cut earlier in the open line repeats nothing of it', () => {
    const scene = new Scene();
    scene.read(raw(2, 'a long line'));
    scene.startOver(raw(2, 'a lo'));
    scene.end();
    expect(scene.content).toBe('a long line');
  });

  it('that is cut in a new line delivers what is there', () => {
    const scene = new Scene();
    scene.read(line(1, 'a'));
    scene.startOver(raw(2, 'new'));
    scene.end();
    expect(scene.content).toBe('a\nnew');
  });
});

describe('what is known of the lines', () => {
  it('of an unstamped line is that it is open, and nothing of its identity', () => {
    const scene = new Scene();
    scene.read('no stamp, '.repeat(30));
    expect(scene.merger.isWithinLine).toBe(true);
    scene.read('\n');
    expect(scene.merger.isWithinLine).toBe(false);
    expect(scene.merger.hasDelivered({ seconds: 0, nanos: 0, hash: hashHead(Buffer.alloc(0), 0, 0) })).toBe(false);
  });

  it('is whether one was delivered: of the open one the stamp decides, of the others the content too', () => {
    const scene = new Scene();
    scene.read(line(1, 'a') + raw(2, 'open'));
    const isDelivered = (ms: number, text: string) => scene.merger.hasDelivered(key(ms, text));
    expect([isDelivered(1, 'a'), isDelivered(1, 'b'), isDelivered(2, 'open and more'), isDelivered(3, 'c')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    scene.read('\n');
    expect([isDelivered(2, 'open'), isDelivered(2, 'open and more')]).toEqual([true, false]);
  });

  it('is the first, the newest, and how much the files held', () => {
    const scene = new Scene();
    expect(scene.merger.hasAny).toBe(false);
    scene.read(line(1, 'a') + line(2, 'b') + raw(3, 'c'));
    const { hasAny, first, newest, fileBytes } = scene.merger;
    expect({ hasAny, first, newest: { seconds: newest.seconds, nanos: newest.nanos } }).toEqual({
      hasAny: true,
      first: at(1),
      newest: at(3),
    });
    expect(fileBytes).toBe('a\nb\nc'.length + 2 * 40);
  });

  it('is a gap wherever the stamps step by 7 s in a log that may have been rotated', () => {
    for (const [stepMs, gaps] of [
      [6_999, 0],
      [7_000, 1],
    ] as const) {
      const scene = new Scene();
      scene.read(line(0, 'a') + line(stepMs, 'b'));
      expect(scene.gaps).toBe(gaps);
    }
  });

  it('is a gap that is reported later, where it was', () => {
    const scene = new Scene();
    scene.read(line(1, 'a'));
    const report = scene.merger.gapBefore(at(5));
    scene.read(line(5, 'b'));
    expect(scene.gaps).toBe(0);
    report();
    const end = { limitReached: false, beginningMayBeMissing: false, interruptedBy: undefined };
    expect(scene.merger.completeness.result(end).gaps).toMatchObject([{ atByte: 2 }]);
  });

  it('is nothing of lines without stamps, which are delivered as they are', () => {
    const scene = new Scene();
    scene.read('one\ntwo\n');
    expect(scene.merger.hasAny).toBe(false);
    expect(scene.content).toBe('one\ntwo\n');
  });
});
