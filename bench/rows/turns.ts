import { atLeast, atMost, mib, ms, type Row, shown } from '../figures.ts';
import { random } from '../random.ts';
import { runWorker } from '../workers/worker.ts';

const TURN_LIMIT_MS = 50;
const SPEED_LIMIT = 3;
const BYTES = 2 * 1024 ** 2;

const LETTERS: Readonly<Record<string, string>> = {
  'plain text': 'level=info msg="request served" method=GET path=/cart/items/4711 status=200 duration_ms=12\n',
  'Russian prose': 'Сервис запущен и готов принимать запросы от пользователей на порту 8080\n',
  'full-width Japanese': 'ｓｅｒｖｉｃｅ　が　起動しました。ｐｏｒｔ　８０８０\n',
  'lines of one Greek letter': 'α\n',
  'one line of Greek letters': 'α',
  'Greek letters, carriage returns': 'α\r\n',
};
const ANCHORS: Readonly<Record<string, string>> = {
  "lines of a token's beginning": 'eyJ\n',
  'lines of a key without a value': 'token\n',
  'lines of a word of two kinds': 'passw\n',
  'lines of a look-alike key': 'ｔｏｋｅｎ\n',
  'lines with a secret': 'secret=abc\n',
};
/** With a policy's pattern that is slow in other engines. */
const PATTERN = 'ticket-(?:[a-z]|[a-z0-9])+;';
const PATTERNED: Readonly<Record<string, string>> = {
  'a pattern, hostile lines': `ticket-${'a'.repeat(30_000)}!\nticket-a;\n`,
  'a pattern, ordinary lines': LETTERS['plain text'] ?? '',
};
/** About the largest that a policy may have, and lines whose every character keeps it busy. */
const LARGE_PATTERN = 'a[ab]{230}c';
const next = random(1);
const ab = (length: number): string => Array.from({ length }, () => (next() < 0.5 ? 'a' : 'b')).join('');
const FOR_LARGE: Readonly<Record<string, string>> = {
  'one long line': `c${ab(30_000)}\na${ab(230)}c\n`,
  'lines of 300': `c${ab(300)}\na${ab(230)}c\n`,
  'with a Greek letter': `cα${ab(1_000)}\na${ab(230)}c\n`,
};
/** Reads far beyond each of its matches. */
const AGAIN_PATTERN = '(?:a|b[^z]*z)';
const FOR_AGAIN: Readonly<Record<string, string>> = {
  'many matches in a long line': `${'ba'.repeat(15_000)}\n`,
  'many matches in each line': `${'ba'.repeat(500)}\n`,
};
/** Made for the worst patterns that kdebug accepts, a log is slow, but never one turn. */
const LITTLE_BYTES = 256 * 1024;

interface Measured {
  readonly name: string;
  readonly speed: number;
  readonly worstTurnMs: number;
}

/** The filter alone, in CPU: the slowest texts that a person can print, and how long one turn of the event loop takes. */
export async function* turns(): AsyncGenerator<Row> {
  yield rowOf('the filter, by alphabet', await measure(LETTERS, []), SPEED_LIMIT);
  yield rowOf('the filter, lines that must be examined', await measure(ANCHORS, []), undefined);
  yield rowOf("the filter with a policy's pattern", await measure(PATTERNED, [PATTERN]), SPEED_LIMIT);
  const large = await measure(FOR_LARGE, [LARGE_PATTERN], LITTLE_BYTES);
  const again = await measure(FOR_AGAIN, [AGAIN_PATTERN], LITTLE_BYTES);
  yield rowOf('the filter, lines made for the worst patterns', [...large, ...again], undefined, LITTLE_BYTES);
}

async function measure(
  texts: Readonly<Record<string, string>>,
  redact: readonly string[],
  bytes = BYTES,
): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const [name, unit] of Object.entries(texts)) {
    const { cpuMs, worstTurnMs } = await runWorker('turn-reader', { unit, bytes, redact });
    measured.push({ name, speed: bytes / 1024 ** 2 / (cpuMs / 1_000), worstTurnMs });
  }
  return measured;
}

function rowOf(name: string, measured: readonly Measured[], speedLimit: number | undefined, bytes = BYTES): Row {
  const slowest = Math.min(...measured.map(({ speed }) => speed));
  const worst = Math.max(...measured.map(({ worstTurnMs }) => worstTurnMs));
  return {
    name: `${name}, ${mib(bytes)} each`,
    figures: Object.fromEntries(
      measured.map((each) => [each.name, `${shown(each.speed, 'MiB/s')} of CPU, worst turn ${ms(each.worstTurnMs)}`]),
    ),
    targets: [
      { text: `worst turn ≤ ${TURN_LIMIT_MS} ms of CPU`, met: atMost(worst, TURN_LIMIT_MS) },
      ...(speedLimit === undefined
        ? []
        : [{ text: `slowest ≥ ${speedLimit} MiB/s of CPU`, met: atLeast(slowest, speedLimit) }]),
    ],
  };
}
