const DURATION = /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/;

/** Milliseconds in a day, an hour, a minute and a second, in the order in which a duration names them. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** The longest duration that a command may ask for: seven days, which every timer can hold. */
export const MAX_DURATION_MS = 7 * 86_400_000;

/** Milliseconds of `90s`, `5m`, `1h`, `1h30m`, `2d`; `undefined` for anything else, zero, or more than seven days. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  const total = UNITS.reduce((sum, [, ms], index) => sum + Number(match[index + 1] ?? 0) * ms, 0);
  return total > 0 && total <= MAX_DURATION_MS ? total : undefined;
}

/** The canonical spelling of a whole number of seconds: `5400000` is `1h30m`. */
export function printDuration(ms: number): string {
  let rest = ms;
  let text = '';
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text || '0s';
}
