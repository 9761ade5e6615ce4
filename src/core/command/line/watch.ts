import { defined } from '../../../lib/object.ts';
import { nearest } from '../../../lib/text.ts';
import type { Command } from '../../request/command.ts';
import { DUMPS, type Dump, MAX_WAIT_MS, tripwireEnv, WAITING_IMAGE } from '../../request/tripwire.ts';
import { type GivenFlag, shown, wholeOf } from './line.ts';
import { type NamedReading, readPod, withoutKind } from './pod-verbs.ts';
import { flagReader, readRequest } from './request.ts';
import { didYouMean, numberReader, type Reader, readDuration } from './values.ts';

/** Within the policy's own default of `maxTimeout`, 30 minutes. */
const DEFAULT_FOR_MS = 25 * 60_000;
/** The image ends by itself. Until then kdebug follows it. */
const AFTER_MS = 2 * 60_000;
const MAX_CONDITIONS = 8;
const MAX_SHOTS = 3;

/** Each kind of condition, with what its value looks like, and how else it is written. The image (docs/blackbox.md, Tripwires) has the same list, and the last word. */
const CONDITIONS = {
  memory: { value: /^\d+(\.\d+)?(%|MiB|GiB)$/, example: 'memory>92%', others: ['memory>500MiB', 'memory>2GiB'] },
  fds: { value: /^\d+(\.\d+)?%?$/, example: 'fds>90%', others: ['fds>1000'] },
  threads: { value: /^\d+$/, example: 'threads>500', others: [] },
  queue: { value: /^\d+$/, example: 'queue>100', others: [] },
  port: { value: /^\d+(\.\d+)?m?s$/, example: 'port:8080>2s', others: ['port:8080>500ms'] },
  quiet: { value: /^\d+(\.\d+)?[sm]$/, example: 'quiet>60s', others: ['quiet>5m'] },
} as const;
type ConditionName = keyof typeof CONDITIONS;
const NAMES = Object.keys(CONDITIONS) as readonly ConditionName[];
const EXAMPLES = Object.values(CONDITIONS).map(({ example }) => example);

/** `watch POD`; also `watch pod POD`. A run of the image that waits, with its settings. */
export function readWatch(reading: NamedReading): Command | undefined {
  const { line, report } = reading;
  const words = withoutKind(reading.words);
  const named = readPod('watch', { ...reading, words });
  const request = named && readRequest(line, words, report);
  const flag = flagReader(line, report);
  const when = readWhen(reading);
  const forMs = line.flags.has('for') ? flag('for', readFor) : DEFAULT_FOR_MS;
  const dump = flag('then', readDump);
  const shots = flag('shots', readShots);
  if (!request || when === undefined || forMs === undefined) return undefined;
  const env = tripwireEnv({ when, forMs, ...defined({ dump, shots }) });
  return { kind: 'run', request: { ...request, image: WAITING_IMAGE, env, timeoutMs: forMs + AFTER_MS } };
}

/** Separates two conditions: a comma, or the word that our own cards write there. */
const BETWEEN = /,|\sor\s/i;

/** `memory > 92 %` is `memory>92%`: a space before a sign or a unit has no meaning. */
const withoutSpaces = (text: string): string =>
  text
    .trim()
    .replace(/\s*>\s*/, '>')
    .replace(/(\d)\s+(%|[MG]iB|m?s|m)$/, '$1$2');

/** All conditions with commas between, as the image reads them. */
function readWhen({ line, report }: NamedReading): string | undefined {
  const given = line.flags.get('when') ?? [];
  const conditions = given.flatMap((one) =>
    one.value.split(BETWEEN).map((text) => ({ one, text: withoutSpaces(text) })),
  );
  if (conditions.length === 0) {
    const hint = `Say what it waits for, as --when=${EXAMPLES[0]}. There are ${EXAMPLES.join(', ')}.`;
    return report({ code: 'condition_invalid', message: 'No condition is named.', hint, ...line.end });
  }
  const wrong = conditions.find(({ text }) => !isCondition(text));
  if (wrong) return report({ code: 'condition_invalid', ...whyWrong(wrong.text), ...wholeOf(wrong.one) });
  if (conditions.length <= MAX_CONDITIONS) return conditions.map(({ text }) => text).join(',');
  const message = `${conditions.length} conditions are too many.`;
  const last = given.at(-1) as GivenFlag;
  return report({ code: 'condition_invalid', message, hint: `Keep at most ${MAX_CONDITIONS}.`, ...wholeOf(last) });
}

interface Parts {
  readonly name: string;
  readonly port: string | undefined;
  readonly value: string;
}

function partsOf(text: string): Parts | undefined {
  const [, name = '', port, value = ''] = /^([^:>]*)(?::([^>]*))?>(.*)$/.exec(text) ?? [];
  return text.includes('>') ? { name, port, value } : undefined;
}

function isCondition(text: string): boolean {
  const parts = partsOf(text);
  const known = parts && knownName(parts.name);
  if (!parts || known === undefined || !CONDITIONS[known].value.test(parts.value)) return false;
  const number = Number.parseFloat(parts.value);
  const isPossible = number > 0 && number <= 1_000_000_000 && !(parts.value.endsWith('%') && number >= 100);
  return isPossible && (known === 'port' ? isPort(parts.port) : parts.port === undefined);
}

const knownName = (name: string): ConditionName | undefined => NAMES.find((known) => known === name);

const isPort = (port = ''): boolean => /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;

const TWO = /\s(?:and|&&|\|\|)\s/i;

function whyWrong(text: string): { readonly message: string; readonly hint: string } {
  const parts = partsOf(text);
  const known = parts && knownName(parts.name);
  if (!parts) return { message: `${shown(text)} is no condition.`, hint: `Write one as ${EXAMPLES.join(', ')}.` };
  if (known === undefined) {
    const hint = didYouMean(nearest(parts.name, NAMES), `The conditions are ${EXAMPLES.join(', ')}.`);
    return { message: `There is no condition ${shown(parts.name)}.`, hint };
  }
  const { example, others } = CONDITIONS[known];
  const hint = TWO.test(text)
    ? 'It looks when any one of several holds: put a comma between them.'
    : `Write it as ${[example, ...others].join(' or ')}.`;
  return { message: `${shown(text)} is no condition.`, hint };
}

const readFor: Reader<number> = (typed, report) => {
  const ms = readDuration(typed, report);
  if (ms === undefined || ms <= MAX_WAIT_MS) return ms;
  const message = `${shown(typed.value)} is too long for --for.`;
  return report({ code: 'duration_invalid', message, hint: 'Write at most 12h.', start: typed.start, end: typed.end });
};

const readDump: Reader<Dump> = (typed, report) => {
  const known = DUMPS.find((name) => name === typed.value);
  if (known) return known;
  const message = `${shown(typed.value)} is nothing to take.`;
  return report({
    code: 'condition_invalid',
    message,
    hint: `--then is ${DUMPS.join(' or ')}.`,
    start: typed.start,
    end: typed.end,
  });
};

const readShots = numberReader('shots', MAX_SHOTS);
