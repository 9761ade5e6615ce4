import { allAtOnce, type Steps } from '../../lib/turns.ts';
import { LineRedactor, replaceRanges } from './line-redactor.ts';
import { createLogFilter } from './log-filter.ts';
import { type SecretRange, searchFor } from './secret-range.ts';

/** The log filter for other texts: messages of a cluster, and what people typed. `redact` are the policy's patterns. */
type Patterns = readonly string[];

/** In UTF-16 units. The API server's longest messages are far shorter. */
const MAX_TEXT_LENGTH = 32 * 1024;
/** Pushed into the filter in one step, where no pattern of the policy asks for less. */
const PIECE_BYTES = 4 * 1024;

/** A whole text, cleaned and redacted like a log (`createLogFilter`); at most 32,768 characters of it. */
export const redactText = (text: string, redact: Patterns): string => allAtOnce(redactSteps(text, redact));

/** `redactText` in steps. */
export function* redactSteps(text: string, redact: Patterns): Steps<string> {
  return text === '' ? text : ((yield* redactTogether([text], redact))[0] ?? '');
}

/** Texts that stand together in an answer, each redacted as `redactText` does: what is hidden in one is hidden in all. */
export function* redactTogether(texts: readonly string[], redact: Patterns): Steps<readonly string[]> {
  const hidden = new Set<string>();
  const redacted: string[] = [];
  for (const text of texts) {
    const filter = createLogFilter({ redact });
    const bytes = Buffer.from(text.slice(0, MAX_TEXT_LENGTH));
    const most = filter.bytesAtOnce ?? PIECE_BYTES;
    const safe: Buffer[] = [];
    for (let from = 0; from < bytes.length; from += most) {
      safe.push(Buffer.from(filter.push(bytes.subarray(from, from + most))));
      yield;
    }
    redacted.push(Buffer.concat([...safe, filter.end()]).toString('utf8'));
    for (const value of filter.hidden) hidden.add(value);
  }
  const longestFirst = [...hidden].toSorted((a, b) => b.length - a.length);
  return redacted.map((text) =>
    longestFirst.reduce((rest, value) => rest.replaceAll(value, '[redacted:secret]'), text),
  );
}

/**
 * The kubelet keeps the last 2,048 bytes of a log, or 4,096 of a file, and shares 12,288 among a pod's containers
 * (`status_manager.go`, `tail.ReadAtMost`). A message of this many bytes may begin inside a secret.
 */
const MAY_BE_CUT_BYTES = 1024;
const ARMOR_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;
const ARMOR_END = /^.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/s;

/**
 * Redacts a termination message by a filter for whole texts, which may be called again with what it returned. Drops the first line, or
 * the rest of a private key, that the kubelet may have cut. In a JSON document (a report) every string is redacted separately.
 */
export function safeTermination(message: string, safe: (text: string) => string): string {
  const document = documentIn(message);
  if (document === undefined) return safe(wholePart(message));
  return safe(JSON.stringify(document, (_key, value: unknown) => (typeof value === 'string' ? safe(value) : value)));
}

/** The last lines of a log, each whole, redacted as one text: they may begin inside a private key. Keeps the newest 32,768 characters. */
export function redactTailSteps(text: string, redact: Patterns): Steps<string> {
  const cut = Math.max(0, text.length - MAX_TEXT_LENGTH);
  const next = cut === 0 ? 0 : text.indexOf('\n', cut) + 1;
  // Of a last line that is longer than all of it, the start is shown.
  const whole = text.slice(next === 0 && cut > 0 ? text.lastIndexOf('\n') + 1 : next);
  return redactSteps(withoutCutKey(whole) ?? whole, redact);
}

/** Without the rest of a private key at its start; undefined: there is none. */
function withoutCutKey(text: string): string | undefined {
  const begin = text.search(ARMOR_BEGIN);
  const end = ARMOR_END.exec(text)?.[0].length ?? 0;
  return end > 0 && (begin === -1 || begin > end) ? `[redacted:private-key]${text.slice(end)}` : undefined;
}

function wholePart(message: string): string {
  const withoutKey = withoutCutKey(message);
  if (withoutKey !== undefined) return withoutKey;
  if (Buffer.byteLength(message) < MAY_BE_CUT_BYTES) return message;
  const newline = message.indexOf('\n');
  return newline === -1 ? '…' : `…${message.slice(newline)}`;
}

function documentIn(text: string): object | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

const secretsIn = (text: string, redact: Patterns): readonly SecretRange[] =>
  new LineRedactor(searchFor(redact)).find({ text, from: 0, to: text.length, startsLine: true });

/** A shorter word cannot hold a secret that is recognised by the word alone. */
const MIN_SCRIPT_LENGTH = 8;

/** The words of a command with secrets replaced; their number stays the same. */
export function redactWords(typed: readonly string[], redact: Patterns): readonly string[] {
  // A word may be a script of many lines, and a secret may be known only by the word before it, so both each word and
  // the joined text are checked. Short words are checked only in the joined text: thousands of them fit into a command.
  const words = typed.map((word) => (word.length < MIN_SCRIPT_LENGTH ? word : redactText(word, redact)));
  const text = words.join(' ');
  const ranges = secretsIn(text, redact);
  if (ranges.length === 0) return words;
  let start = 0;
  return words.map((word) => {
    const [from, to] = [start, start + word.length];
    start = to + 1;
    const own = ranges
      .filter((range) => range.start < to && range.end > from)
      .map((range) => ({ ...range, start: Math.max(range.start, from), end: Math.min(range.end, to) }));
    return replaceRanges(text, { from, to, ranges: own });
  });
}

/** A shell or another interpreter may read more than one argument in it. */
const SCRIPT = /[\s;|&`$<>(){}"'\\]/;

/**
 * As `redactWords`, for those who decide whether somebody else's command runs: a word without a secret stays as it is,
 * and of a script with one nothing is left, because a part of it would mislead.
 */
export function redactForeignWords(given: readonly string[], redact: Patterns): readonly string[] {
  const safe = redactWords(given, redact);
  return given.map((word, index) => {
    const shown = safe[index] ?? '';
    if (!hidesPart(shown)) return word;
    return SCRIPT.test(word) ? '[redacted:script]' : shown;
  });
}

export const hidesPart = (word: string): boolean => word.includes('[redacted:');

/** What it hides may be more than an argument. */
export const mayHideScript = (word: string): boolean =>
  hidesPart(word) && (SCRIPT.test(word) || /\[redacted:(?:script|long)\]/.test(word));

interface Variable {
  readonly name: string;
  readonly value: string;
}

/** Environment variables with secrets replaced; if the name says that the value is a secret, all of the value. */
export function redactEnv<Named extends Variable>(env: readonly Named[], redact: Patterns): readonly Named[] {
  return env.map((variable) => {
    const from = variable.name.length + 1;
    const text = `${variable.name}=${variable.value}`;
    const ranges = secretsIn(text, redact).filter(({ end }) => end > from);
    const [first] = ranges;
    if (first === undefined) return variable;
    if (first.start <= from) return { ...variable, value: `[redacted:${first.kind}]` };
    return { ...variable, value: replaceRanges(text, { from, to: text.length, ranges }) };
  });
}
