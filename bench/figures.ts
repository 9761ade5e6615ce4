/** One measured row, as it is printed. */
export interface Row {
  readonly name: string;
  readonly figures: Readonly<Record<string, string>>;
  /** The target that design.md section 10 sets, and whether this run met it. */
  readonly target: string;
  readonly met: boolean | undefined;
}

export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? Number.NaN;

export const median = (values: readonly number[]): number =>
  percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  );

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

export function printRow({ name, figures, target, met }: Row): void {
  const words = Object.entries(figures).map(([label, value]) => `${label} ${value}`);
  const verdict = met === undefined ? 'not compared' : met ? 'met' : 'NOT met';
  console.log(`${name}\n  ${words.join(' · ')}\n  target: ${target}: ${verdict}`);
}
