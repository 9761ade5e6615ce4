import { expect, it } from 'vitest';
import { PIECE_BYTES, PIECE_LINES, Pieces } from '../../../src/flow/context/turns.ts';
import { Turns } from '../../../src/lib/turns.ts';

/** What was taken in each turn of the event loop, until `work` is done. */
async function takenIn(work: (take: (what: string) => void) => Promise<unknown>): Promise<readonly string[][]> {
  const turns: string[][] = [[]];
  let isDone = false;
  const next = (): void => {
    turns.push([]);
    if (!isDone) setImmediate(next);
  };
  setImmediate(next);
  await work((what) => turns.at(-1)?.push(what));
  isDone = true;
  return turns.filter((turn) => turn.length > 0);
}

const linesOf = (text: string): number => text.split('\n').length - 1;

it.each([
  ['\n', 5_000],
  ['α\n', 5_461],
  ['eyJ\n', 4_096],
  ['a line of a log of ordinary length, for once\n', 1_000],
  ['one line without an end, ', 4_000],
])('a turn takes a bounded number of bytes and of lines: %j', async (unit, count) => {
  const pieces = new Pieces(new Turns({ elapsed: () => 0 }).of('U0ROY'));
  const bytes = Buffer.from(unit.repeat(count));

  const turns = await takenIn((take) => pieces.each(bytes, (piece) => take(piece.toString('latin1'))));

  for (const turn of turns) {
    expect(turn.join('').length).toBeLessThanOrEqual(PIECE_BYTES);
    expect(linesOf(turn.join(''))).toBeLessThanOrEqual(PIECE_LINES);
  }
  expect(turns.flat().join('')).toBe(bytes.toString('latin1'));
  expect(turns.length).toBeGreaterThan(bytes.length / PIECE_BYTES);
});

it('ends a turn by what the policy’s patterns take, and gives them little at once', async () => {
  const filter = { bytesAtOnce: 512, steps: 0 };
  const pieces = new Pieces(new Turns({ elapsed: () => 0 }).of('U0ROY'), filter);
  const bytes = Buffer.from('a line of a log of ordinary length, for once\n'.repeat(200));

  const turns = await takenIn((take) =>
    pieces.each(bytes, (piece) => {
      // As 200 states do that read each character once.
      filter.steps += 200 * piece.length;
      take(piece.toString('latin1'));
    }),
  );

  expect(Math.max(...turns.flat().map(({ length }) => length))).toBe(512);
  expect(Math.max(...turns.map((turn) => turn.length))).toBe(2);
  expect(turns.flat().join('')).toBe(bytes.toString('latin1'));
});

it('counts the lines of a turn over all chunks of it', async () => {
  const pieces = new Pieces(new Turns({ elapsed: () => 0 }).of('U0ROY'));

  const turns = await takenIn(async (take) => {
    for (let count = 0; count < 1_200; count++) await pieces.each(Buffer.from('a\n'), () => take('line'));
  });

  expect(turns.map((turn) => turn.length)).toEqual([500, 500, 200]);
});

it('a person with one log waits for one turn of each other person, however many logs those read', async () => {
  const turns = new Turns({ elapsed: () => 0 });
  const read = async (person: string, take: (what: string) => void): Promise<void> => {
    for (let count = 0; count < 10; count++) {
      await turns.of(person).next();
      take(person);
    }
  };

  const taken = await takenIn((take) =>
    Promise.all([...Array.from({ length: 6 }, () => read('U0MOSS', take)), read('U0ROY', take), read('U0JEN', take)]),
  );

  const order = taken.flat();
  expect(Math.max(...taken.map((turn) => turn.length))).toBe(1);
  expect(order.slice(0, 30)).toEqual(Array.from({ length: 10 }, () => ['U0MOSS', 'U0ROY', 'U0JEN']).flat());
  expect(order.filter((person) => person === 'U0MOSS')).toHaveLength(60);
});
