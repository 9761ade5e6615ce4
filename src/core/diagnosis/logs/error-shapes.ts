import { defined } from '../../../lib/object.ts';
import { shorten } from '../../../lib/text.ts';
import { allAtOnce, type Steps } from '../../../lib/turns.ts';
import { cleanLine } from '../../redact/clean-text.ts';
import { LineRedactor } from '../../redact/line-redactor.ts';
import { redactSteps, redactTogether } from '../../redact/redact-text.ts';
import type { LogShape, TargetLog } from '../facts/facts.ts';
import { LogEntries, type LogEntry, quotableSteps, severityOf, wordsOf } from './log-entries.ts';
import { isFinal, type LogLevel, troubleIn } from './log-level.ts';

/** A line is read so far; a word that is cut there is left out. */
const MAX_LINE = 16 * 1024;
/** Shapes that are counted at once. When there are more, the least important are forgotten, down to `SHAPES_AFTER_PRUNING`. */
const MAX_SHAPES = 200;
const SHAPES_AFTER_PRUNING = 150;
const MAX_SHOWN = 20;
/** Whether lines of a shape come faster than before is told by the newest of them. */
const NEWEST = 10;
/** What comes again after so long began anew. */
const SILENT_MS = 2 * 60_000;
/** Of the first line, where a cause follows it. */
const MAX_FIRST = 140;
/** Two lines that differ only behind this have one shape. */
const MAX_SHAPE_LENGTH = 400;

/** A letter of any script. */
const HAS_WORDS = /\p{L}/u;

/** A probe's own request is no answer to why it fails. */
const REQUEST = /\b(?:GET|HEAD|POST) "?\/|kube-probe\//;

const ON_LOOPBACK =
  /(?:listen|running|serving|started|bound|binding|local|ready)\w{0,8}\b.{0,60}?(?:127\.0\.0\.1|localhost|\[::1\]):\d{2,5}/i;

/** PostgreSQL ends the session of one client so, and goes on. */
const OF_A_SESSION = /\bFATAL: {2}/;

type Level = LogShape['level'];
const WORST_FIRST: readonly Level[] = ['fatal', 'error', 'warning'];

interface Shape {
  readonly level: Level;
  readonly isAccess: boolean;
  readonly isFinal: boolean;
  /** The newest example, as it is. */
  first: string;
  cause: string | undefined;
  count: number;
  firstAtMs: number;
  lastAtMs: number;
  sinceMs: number;
  /** The stamps of its newest lines, at most `NEWEST`. */
  readonly newestAtMs: number[];
}

/**
 * Counts the error lines of a running container's log, by shape: equal but for numbers, ids, quoted words and times. What a line
 * is:
 *
 * - Its own level decides: by JSON, logfmt, klog, nginx, Postgres, or the conventions of logging libraries. A line of level INFO or
 *   milder never counts, whatever its words are; neither does an access line below status 500.
 * - An access line of status 500 or more is an error, `GET /path → 503`, whatever its own level is: the path without its query.
 * - Without a level its words decide: `error`, `failed`, `refused`, `cannot` … make an error; `missing`, `required`, `not found` …,
 *   which often name an option, a warning. `0 errors`, `error=null`, `no error` make nothing.
 * - A stack trace counts once, with its first line; the shape says that line and the cause.
 * - Warnings are shown only where nothing is worse.
 * - A line of a secret that began in an earlier one is nothing.
 *
 * Memory is bounded: 200 shapes of at most two lines of 16 KiB. Linear time in the text; never throws.
 */
export class ErrorShapes {
  readonly #redact: readonly string[];
  readonly #spanning = new LineRedactor();
  readonly #entries = new LogEntries();
  readonly #shapes = new Map<string, Shape>();
  #lines = 0;
  #firstAtMs: number | undefined;
  #lastAtMs: number | undefined;
  #newest: string | undefined;
  #onLoopback: string | undefined;

  /** `redact`: the policy's own patterns. */
  constructor(redact: readonly string[]) {
    this.#redact = redact;
  }

  /** The next line of the log, without its newline and without the kubelet's stamp. */
  add({ atMs, text }: { readonly atMs: number; readonly text: string }): void {
    this.#lines++;
    if (Number.isFinite(atMs)) {
      this.#firstAtMs = Math.min(this.#firstAtMs ?? atMs, atMs);
      this.#lastAtMs = Math.max(this.#lastAtMs ?? atMs, atMs);
    }
    const line = this.#outsideSecrets(cleanLine(boundedLine(text)));
    if (line === undefined) return;
    if (HAS_WORDS.test(line) && (!REQUEST.test(line) || troubleIn(line) !== undefined)) this.#newest = line;
    if (ON_LOOPBACK.test(line)) this.#onLoopback = line;
    const ended = this.#entries.add(line, Number.isFinite(atMs) ? atMs : (this.#lastAtMs ?? 0));
    if (ended !== undefined) this.#count(ended);
  }

  /** Undefined: it belongs to a secret that began in an earlier line, so it says nothing. */
  #outsideSecrets(clean: string): string | undefined {
    const { isInsideSecret } = this.#spanning;
    const line = this.#spanning.line(clean);
    return isInsideSecret && line !== clean ? undefined : line;
  }

  /** Call it once, at the end. Every line is redacted and at most 300 characters. */
  result(): Omit<TargetLog, 'containerName'> {
    return allAtOnce(this.resultSteps());
  }

  *resultSteps(): Steps<Omit<TargetLog, 'containerName'>> {
    const last = this.#entries.finish();
    if (last !== undefined) this.#count(last);
    const found = byImportance([...this.#shapes.values()]);
    const hasErrors = found.some(({ level }) => level !== 'warning');
    const shown = found.filter(({ level }) => !hasErrors || level !== 'warning').slice(0, MAX_SHOWN);
    const examples = shown.flatMap(({ first, cause = '' }) => [first, cause]);
    const chosen = [this.#newest ?? '', this.#onLoopback ?? '', ...examples];
    const [newest, onLoopback, ...safe] = yield* redactTogether(chosen, this.#redact);
    const shapes: LogShape[] = [];
    for (const [
      index,
      { level, isAccess, isFinal, count, firstAtMs, lastAtMs, sinceMs, newestAtMs },
    ] of shown.entries()) {
      shapes.push({
        line: yield* this.#shown({ first: safe[2 * index] ?? '', cause: safe[2 * index + 1] || undefined }),
        count,
        level,
        ...(isAccess ? { isAccess } : undefined),
        ...(isFinal ? { isFinal } : undefined),
        firstAtMs,
        lastAtMs,
        sinceMs,
        ...defined({ tenthAtMs: newestAtMs.at(-NEWEST) }),
      });
    }
    return {
      lines: this.#lines,
      ...(this.#firstAtMs === undefined ? undefined : { firstAtMs: this.#firstAtMs, lastAtMs: this.#lastAtMs ?? 0 }),
      ...(yield* this.#chosen('newest', newest)),
      ...(yield* this.#chosen('onLoopback', onLoopback)),
      shapes,
    };
  }

  *#chosen(field: 'newest' | 'onLoopback', line = ''): Steps<Partial<TargetLog>> {
    return line === '' ? {} : { [field]: yield* this.#shown({ first: line, cause: undefined }) };
  }

  #count(entry: LogEntry): void {
    const { first, cause, atMs } = entry;
    const level = levelOf(entry);
    if (level === undefined || level === 'info') return;
    const isAccess = entry.read.isAccess === true;
    const key = `${level} ${shapeOf(joined(wordsOf(entry)))}`;
    const shape = this.#shapes.get(key);
    if (shape === undefined) {
      this.#shapes.set(key, {
        level,
        isAccess,
        isFinal: level === 'fatal' || (level === 'error' && isFinal(`${first} ${cause ?? ''}`)),
        first,
        cause,
        count: 1,
        firstAtMs: atMs,
        lastAtMs: atMs,
        sinceMs: atMs,
        newestAtMs: [atMs],
      });
      if (this.#shapes.size > MAX_SHAPES) this.#forgetSome();
      return;
    }
    shape.count++;
    shape.newestAtMs.push(atMs);
    if (shape.newestAtMs.length > NEWEST) shape.newestAtMs.shift();
    shape.firstAtMs = Math.min(shape.firstAtMs, atMs);
    if (atMs < shape.lastAtMs) return;
    if (atMs - shape.lastAtMs >= SILENT_MS) shape.sinceMs = atMs;
    Object.assign(shape, { first, cause, lastAtMs: atMs });
  }

  #forgetSome(): void {
    const important = new Set(byImportance([...this.#shapes.values()]).slice(0, SHAPES_AFTER_PRUNING));
    for (const [key, shape] of this.#shapes) if (!important.has(shape)) this.#shapes.delete(key);
  }

  /** Chooses from whole lines that are redacted, and redacts what was chosen before any of it is cut (`quotableSteps` says why). */
  *#shown({ first, cause }: Pick<Shape, 'first' | 'cause'>): Steps<string> {
    const safe = (line: string): Steps<string> => redactSteps(line, this.#redact);
    const words = wordsOf({ first, ...(cause === undefined ? undefined : { cause }) });
    const why = words.cause === undefined ? undefined : { cause: yield* safe(words.cause) };
    return yield* quotableSteps(joined({ first: yield* safe(words.first), ...why }), this.#redact);
  }
}

function levelOf(entry: LogEntry): LogLevel | undefined {
  const level = severityOf(entry);
  return level === 'fatal' && OF_A_SESSION.test(entry.first) ? 'error' : level;
}

/** The worst level first, then what is final, then what is no effect, then the most frequent, then the newest. */
const byImportance = (shapes: readonly Shape[]): readonly Shape[] =>
  shapes.toSorted(
    (a, b) =>
      WORST_FIRST.indexOf(a.level) - WORST_FIRST.indexOf(b.level) ||
      Number(b.isFinal) - Number(a.isFinal) ||
      Number(a.isAccess) - Number(b.isAccess) ||
      b.count - a.count ||
      b.lastAtMs - a.lastAtMs,
  );

/** A line of bounded length; the last word may be half a secret. */
function boundedLine(text: string): string {
  if (text.length <= MAX_LINE) return text;
  const cut = text.slice(0, MAX_LINE);
  return cut.slice(0, Math.max(cut.lastIndexOf(' '), cut.lastIndexOf(','), 0));
}

function joined({ first, cause }: { readonly first: string; readonly cause?: string }): string {
  if (cause === undefined || first.includes(cause)) return first;
  return first === '' ? cause : `${shorten(first, MAX_FIRST).replace(/[:\s]{1,5}$/, '')}: ${cause}`;
}

/** Whole ids, quoted words, words with a digit (numbers, times, addresses, hashes). */
const VARIABLE =
  /"(?:[^"\\]|\\.)*"|(?<!\w)'[^']*'|`[^`]*`|“[^”]*”|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|[\w.]*\d[\w.]*|\b[0-9a-f]{12,}\b/gi;

const shapeOf = (text: string): string =>
  text
    .slice(0, MAX_SHAPE_LENGTH)
    .replace(VARIABLE, '#')
    .replace(/#(?:[-:.,/]#)+/g, '#');
