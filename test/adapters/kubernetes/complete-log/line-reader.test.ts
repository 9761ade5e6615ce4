import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatStamp, type Stamp } from '../../../../src/adapters/kubernetes/complete-log/line-identity.ts';
import {
  type LineDecision,
  type LineHandler,
  LineReader,
} from '../../../../src/adapters/kubernetes/complete-log/line-reader.ts';

/** Notes what it is given. */
class Notes implements LineHandler {
  readonly lines: string[] = [];
  readonly #decide: (stamp: string) => LineDecision;
  #line = '';

  constructor(decision: (stamp: string) => LineDecision = () => 'deliver') {
    this.#decide = decision;
  }

  begin(stamp: Stamp | undefined): LineDecision {
    const text = stamp ? formatStamp(stamp) : '-';
    const decision = this.#decide(text);
    if (decision === 'deliver') this.#line = `${text}|`;
    return decision;
  }

  content(bytes: Buffer, from: number, to: number): void {
    this.#line += bytes.toString('latin1', from, to);
  }

  end(): boolean {
    this.lines.push(this.#line);
    this.#line = '';
    return true;
  }
}

const STAMP = '2026-11-21T07:30:00.000000001Z';

function read(chunks: readonly string[], handler: LineHandler, mayBeginWithin = false): LineReader {
  const reader = new LineReader({ mayBeginWithin });
  for (const chunk of chunks) reader.read(Buffer.from(chunk, 'latin1'), handler);
  reader.finish(handler);
  return reader;
}

describe('a line', () => {
  it('is cut from its stamp, in UTC whatever the zone of the node', () => {
    const notes = new Notes();
    read([`${STAMP} one\n2026-11-21T08:30:00.000000002+01:00 two\n2026-11-20T23:30:00.000000003-08:00 three\n`], notes);
    expect(notes.lines).toEqual([
      `${STAMP}|one`,
      '2026-11-21T07:30:00.000000002Z|two',
      '2026-11-21T07:30:00.000000003Z|three',
    ]);
  });

  it('is the same wherever the bytes are cut', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '2', ' ', '\r', '\0', ':', '-') });
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(400)), fc.boolean(), (lines, cuts, needsHead) => {
        const text = lines.map((content) => `${STAMP} ${content}\n`).join('');
        const notes = new Notes();
        const reader = new LineReader({ mayBeginWithin: false });
        reader.needsHead = needsHead;
        let at = 0;
        for (const cut of [...cuts.sort((a, b) => a - b), text.length]) {
          reader.read(Buffer.from(text.slice(at, cut), 'latin1'), notes);
          at = Math.max(at, Math.min(cut, text.length));
        }
        reader.finish(notes);
        expect(notes.lines).toEqual(
          lines.map((content) => `${STAMP}|${Buffer.from(content, 'latin1').toString('latin1')}`),
        );
      }),
    );
  });

  it.each(['an error of the kubelet', '2026-11-21 07:30:00', '2026-11-21T07:30:00Z x', ''])(
    'without a stamp (%j) is taken as it is',
    (text) => {
      const notes = new Notes();
      read([`${text}\n${STAMP} x\n`], notes);
      expect(notes.lines).toEqual([`-|${text}`, `${STAMP}|x`]);
    },
  );

  it('without a stamp at the beginning of a read with sinceTime is the rest of an older one', () => {
    const notes = new Notes();
    read(['rest of ', `a long line\n${STAMP} x\n`], notes, true);
    expect(notes.lines).toEqual([`${STAMP}|x`]);
  });

  it.each([
    [`${STAMP} x\nany words of the node`, false],
    ['rpc error: code = NotFound', false],
    ['unable to retrieve container logs for containerd://a', true],
  ])('that is the last of %j is what the node says, wherever the bytes are cut', (text, mayBeginWithin) => {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const notes = new Notes();
      const reader = read([text.slice(0, cut), text.slice(cut)], notes, mayBeginWithin);
      expect(notes.lines).toEqual(text.includes('\n') ? [`${STAMP}|x`] : []);
      expect(reader.nodeError).toBe(text.split('\n').at(-1));
    }
  });

  it('that only speaks of such an error is content wherever the bytes are cut', () => {
    const text = `${STAMP} rpc error: code = X, failed to open log file "y"\n${STAMP} x\n`;
    for (let cut = 0; cut <= text.length; cut += 1) {
      const notes = new Notes();
      const reader = read([text.slice(0, cut), text.slice(cut)], notes);
      expect(notes.lines).toEqual([`${STAMP}|rpc error: code = X, failed to open log file "y"`, `${STAMP}|x`]);
      expect(reader.nodeError).toBeUndefined();
    }
  });

  it('without its end that says what programs say as well is the program’s: containerd writes it without a newline', () => {
    const taken: string[] = [];
    const handler = {
      begin: (): LineDecision => 'deliver',
      content: (bytes: Buffer, from: number, to: number) => void taken.push(bytes.toString('latin1', from, to)),
      end: () => true,
    };
    const said = 'rpc error: code = Unavailable desc = x';
    expect(read([`${STAMP} one\n${STAMP} ${said}`], handler).nodeError).toBeUndefined();
    expect(taken.join('|')).toBe(`one|${said}`);
  });

  it('without its end, and the node’s words behind it, has only its own', () => {
    const text = `${STAMP} ${'long '.repeat(2_000)}`;
    const words = 'failed to watch directory "/var/log/pods/a": no space left on device';
    const taken: string[] = [];
    const handler = {
      begin: (): LineDecision => 'deliver',
      content: (bytes: Buffer, from: number, to: number) => void taken.push(bytes.toString('latin1', from, to)),
      end: () => true,
    };
    expect(read([text, words], handler).nodeError).toBe(words);
    expect(read([text + words], handler).nodeError).toBe(words);
    expect(taken.join('')).toBe('long '.repeat(4_000));
  });

  it('can be passed over, held and stopped at', () => {
    const at = (nanos: number) => `2026-11-21T07:30:00.00000000${nanos}Z`;
    let isHeld = true;
    const decisions: Record<string, () => LineDecision> = {
      [at(2)]: () => 'skip',
      [at(3)]: () => (isHeld ? 'hold' : 'deliver'),
      [at(4)]: () => 'stop',
    };
    const notes = new Notes((stamp) => decisions[stamp]?.() ?? 'deliver');
    const reader = new LineReader({ mayBeginWithin: false });
    const text = [1, 2, 3, 4, 5].map((nanos) => `${at(nanos)} line\n`).join('');

    reader.read(Buffer.from(text), notes);
    expect(notes.lines).toEqual([`${at(1)}|line`]);
    isHeld = false;
    expect(reader.read(Buffer.alloc(0), notes)).toBe(false);
    expect(notes.lines).toEqual([`${at(1)}|line`, `${at(3)}|line`]);
  });
});
