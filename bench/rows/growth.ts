import type { Row } from '../figures.ts';
import { DISTINCT, INLETS } from '../growth/inlets.ts';
import { DIAGNOSIS_FILES, diagnosed, filtered, HOSTILE_LOGS, LOG_FILES, LOG_READERS } from '../growth/logs.ts';
import { alphabetOf, type Hostile, slowTexts, textsOver } from '../growth/slow-texts.ts';
import type { BenchOptions } from '../options.ts';

/** Of a file that names no expression: what separates words everywhere. */
const ALWAYS = ['a', '0', ' ', '\n', '-', '.', '/', '=', '"', "'", '<', '`'];
/** Quadratic time over 64 KiB is far more; less is the noise of a busy machine. */
const NOISE_MS = 5;
/** Of a piece of a log, and above it. */
const PIECES = { shortest: 128 * 1024, longest: 512 * 1024 };

type Read = (text: string) => unknown;

interface Subject {
  readonly name: string;
  readonly run: Read;
  readonly texts: readonly (string | Hostile)[];
  readonly limits: { readonly shortest?: number; readonly longest: number };
}

/**
 * Whether the time of every function that reads words from Slack or a log grows no faster than the text. Measured in processor time of
 * this process, over texts that were slow once and over the alphabet of the expressions in its file.
 */
export async function* growth({ texts: sizes }: BenchOptions): AsyncGenerator<Row> {
  const subjects = [...inlets(sizes), ...logs(sizes)];
  const slow = subjects.flatMap(({ name, run, texts, limits }) =>
    slowTexts(run, texts, limits)
      .filter(({ milliseconds }) => milliseconds > NOISE_MS)
      .map((found) => ({ name, ...found })),
  );
  yield {
    name: 'growth of time with the length of a text',
    figures: {
      functions: String(subjects.length),
      texts: String(subjects.reduce((sum, { texts }) => sum + texts.length, 0)),
      ...Object.fromEntries(
        slow.map(({ name, text, ratio, characters, milliseconds }, index) => [
          `slow ${index + 1}`,
          `${name}: ${JSON.stringify(text)}, ${ratio.toFixed(1)} × from ${characters / 2} to ${characters} characters (${milliseconds.toFixed(0)} ms)`,
        ]),
      ),
    },
    targets: [
      { text: 'no time grows faster than the text (twice the text: less than 3 × the time)', met: slow.length === 0 },
    ],
  };
}

type Sizes = BenchOptions['texts'];

function inlets(sizes: Sizes): readonly Subject[] {
  const read = INLETS.map(([name, file, run, seeds = []]) => {
    const alphabet = [...new Set([...alphabetOf([file]), ...ALWAYS])].filter((atom) => atom !== '');
    return { name, run, texts: [...seeds, ...textsOver(alphabet, sizes)], limits: { longest: 64 * 1024 } };
  });
  return [...read, ...DISTINCT.map(([name, run]) => ({ name, run, texts: ['x'], limits: { longest: 64 * 1024 } }))];
}

function logs(sizes: Sizes): readonly Subject[] {
  const limits = { longest: 20_000 };
  return [
    ...LOG_READERS.map(([name, run]) => ({ name, run, texts: HOSTILE_LOGS, limits })),
    ...LOG_FILES.map((file) => ({
      name: `filtering what ${file} names`,
      run: filtered,
      texts: [...textsOver(alphabetOf([file]), sizes)],
      limits: { shortest: 2_500, ...limits },
    })),
    ...DIAGNOSIS_FILES.map((file) => ({
      name: `diagnosing by what ${file} names`,
      run: diagnosed,
      texts: [...textsOver(alphabetOf([file]), sizes)],
      limits: { shortest: 2_000, longest: 16_000 },
    })),
    { name: 'filtering lines longer than a piece', run: filtered, texts: HOSTILE_LOGS, limits: PIECES },
  ];
}
