/** One measured row, as it is printed. */
export interface Row {
  readonly name: string;
  readonly figures: Readonly<Record<string, string>>;
  /** What design.md section 10 asks of this run, each with whether it was met; undefined: it could not be compared here. */
  readonly targets: readonly Target[];
}

export interface Target {
  readonly text: string;
  readonly met: boolean | undefined;
}

/** Of a set of measurements, in their own unit. `NaN` throughout when there are none. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The nearest-rank percentile: the least value that at least `share` (0 to 1) of them do not exceed. `NaN` of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.ceil(sorted.length * share);
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const spreadOf = (values: readonly number[]): Spread => ({
  count: values.length,
  p50: median(values),
  p99: percentile(values, 0.99),
  max: percentile(values, 1),
});

/** Whether a figure keeps a limit; undefined when there is no figure. */
export const atMost = (value: number, limit: number): boolean | undefined =>
  Number.isNaN(value) ? undefined : value <= limit;

export const atLeast = (value: number, limit: number): boolean | undefined =>
  Number.isNaN(value) ? undefined : value >= limit;

export const ms = (value: number): string => shown(value, 'ms');
export const mib = (bytes: number): string => shown(bytes / 1024 ** 2, 'MiB');
export const times = (value: number): string => shown(value, '×');

/** Three digits or so: more is noise. */
export function shown(value: number, unit = ''): string {
  if (Number.isNaN(value)) return 'not measured';
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return `${value.toFixed(digits)}${unit === '' ? '' : ` ${unit}`}`;
}

export function rowText({ name, figures, targets }: Row): string {
  const width = Math.max(0, ...Object.keys(figures).map((label) => label.length));
  return [
    name,
    ...Object.entries(figures).map(([label, value]) => `  ${label.padEnd(width)}  ${value}`),
    ...targets.map(({ text, met }) => `  ${verdictOf(met).padEnd(13)}${text}`),
    '',
  ].join('\n');
}

const verdictOf = (met: boolean | undefined): string => (met === undefined ? 'not compared' : met ? 'met' : 'NOT met');
