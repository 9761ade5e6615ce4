import { defined, isObject } from '../../../lib/object.ts';
import type { Chart } from './verdict.ts';

const UNITS = ['bytes', 'millicores', '%', 'ms', 'count'] as const;

/** Values that an image read repeatedly while it ran. */
export interface Series {
  /** The quantity: `CPU in use`. */
  readonly text: string;
  readonly unit: (typeof UNITS)[number];
  /** The section that a finding about it has. */
  readonly section: string;
  /** In `unit`: drawn as a second line. */
  readonly limit?: number;
  /** Milliseconds since the first reading, rising, and the value in `unit`. */
  readonly points: readonly (readonly [number, number])[];
}

const MAX_SERIES = 4;
const MAX_POINTS = 20;
/** Two readings are a difference, which words tell better. */
const MIN_POINTS = 3;
/** A chart names its moments in tenths of a second. */
const MIN_STEP_MS = 100;
const MAX_AT_MS = 86_400_000;
const SECTION = /^[a-z][a-z0-9_-]{0,39}$/;

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;

/**
 * The series of a report. Drops one of another form, and readings that come too soon after the one before. `line` cleans
 * and redacts a text.
 */
export function readSeries(value: unknown, line: (value: unknown) => string | undefined): readonly Series[] {
  const all = Array.isArray(value) ? value.slice(0, MAX_SERIES) : [];
  return all.flatMap((item) => (isObject(item) ? (toSeries(item, line) ?? []) : []));
}

function toSeries(
  { text, unit, section, limit, points }: Readonly<Record<string, unknown>>,
  line: (value: unknown) => string | undefined,
): Series | undefined {
  const words = line(text);
  const known = UNITS.find((name) => name === unit);
  if (words === undefined || known === undefined || typeof section !== 'string' || !SECTION.test(section)) return;
  const read = readPoints(points);
  if (read.length < MIN_POINTS) return;
  return {
    text: words,
    unit: known,
    section,
    points: read,
    ...defined({ limit: isAmount(limit) && limit > 0 ? limit : undefined }),
  };
}

function readPoints(value: unknown): Series['points'] {
  const read: (readonly [number, number])[] = [];
  for (const point of Array.isArray(value) ? value.slice(0, MAX_POINTS) : []) {
    const [atMs, amount] = Array.isArray(point) ? point : [];
    if (!isAmount(atMs) || atMs > MAX_AT_MS || !isAmount(amount)) return [];
    const [newestMs] = read.at(-1) ?? [Number.NEGATIVE_INFINITY];
    if (atMs - newestMs >= MIN_STEP_MS) read.push([atMs, amount]);
  }
  return read;
}

/** Slack shows two in a message. */
const MAX_CHARTS = 2;
/** Slack's limits of a title and of a name beside it. */
const MAX_TITLE = 50;
const MAX_NAME = 20;
const LIMIT = 'limit';
/** Below this share of the largest value, one number says as much. */
const MIN_SPREAD = 0.1;

/**
 * The series that deserve a chart: those of a section with a finding, if they move so much that the finding's one
 * number does not show it.
 */
export const chartsOf = (series: readonly Series[], sections: ReadonlySet<string | undefined>): readonly Chart[] =>
  series
    .filter((each) => sections.has(each.section) && moves(each))
    .slice(0, MAX_CHARTS)
    .map(toChart);

function moves({ points }: Series): boolean {
  const values = points.map(([, value]) => value);
  const largest = Math.max(...values);
  return largest > 0 && largest - Math.min(...values) >= largest * MIN_SPREAD;
}

function toChart({ text, unit, limit, points }: Series): Chart {
  const { name, divisor } = SHOWN_AS[unit];
  const shown = (value: number): number => Math.round((value / divisor) * 10) / 10;
  const own = text.slice(0, MAX_NAME).trim();
  // Slack refuses two lines, or two moments, of one name.
  const lines = [{ name: own === LIMIT ? 'value' : own, values: points.map(([, value]) => shown(value)) }];
  if (limit !== undefined) lines.push({ name: LIMIT, values: points.map(() => shown(limit)) });
  return {
    title: text.slice(0, MAX_TITLE).trim(),
    unit: name,
    moments: points.map(([atMs]) => `${(Math.round(atMs / 100) / 10).toFixed(1)} s`),
    lines,
  };
}

const SHOWN_AS: Readonly<Record<Series['unit'], { readonly name: string; readonly divisor: number }>> = {
  bytes: { name: 'MiB', divisor: 1_048_576 },
  millicores: { name: 'millicores', divisor: 1 },
  '%': { name: '%', divisor: 1 },
  ms: { name: 'ms', divisor: 1 },
  count: { name: '', divisor: 1 },
};
