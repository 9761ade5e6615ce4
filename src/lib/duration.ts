/** `90s`, `5m`, `1h30m`, `2d`: days, hours, minutes, seconds; not zero. */
export const DURATION = /^(?=.*[1-9])(?:(\d{1,7})d)?(?:(\d{1,7})h)?(?:(\d{1,7})m)?(?:(\d{1,7})s)?$/;

/** Milliseconds in a day, an hour, a minute and a second, in the order in which a duration names them. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** The longest duration in a command: seven days, which every timer can hold. */
export const MAX_DURATION_MS = 7 * 86_400_000;

/** Milliseconds of a text that matches `DURATION`; `undefined` for any other, or more than `maxMs`. */
export function parseDuration(text: string, maxMs = MAX_DURATION_MS): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  const total = UNITS.reduce((sum, [, ms], index) => sum + Number(match[index + 1] ?? 0) * ms, 0);
  return total <= maxMs ? total : undefined;
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

/** A duration that may be too short to measure: never `0.0 s`. */
export const shortDuration = (ms: number): string => (ms < 50 ? 'under a second' : formatDuration(ms));

/** A duration in a sentence: `in under a second`, `after 12 s`. */
export const afterWords = (ms: number): string => (ms < 950 ? 'in under a second' : `after ${formatDuration(ms)}`);

/** A span of time for people: `0.4 s`, `2 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return withRest(`${minutes} min`, seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? withRest(`${hours} h`, minutes % 60, 'min')
    : withRest(`${Math.floor(hours / 24)} d`, hours % 24, 'h');
}

const withRest = (whole: string, rest: number, unit: string): string =>
  rest === 0 ? whole : `${whole} ${rest} ${unit}`;

/** An age as kubectl writes it: `82s`, `5m12s`, `3h4m`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 180) return `${minutes}m${minutes < 10 && seconds % 60 > 0 ? `${seconds % 60}s` : ''}`;
  return `${Math.floor(minutes / 60)}h${minutes % 60 > 0 ? `${minutes % 60}m` : ''}`;
}

/** A size for people, in binary units: `812 B`, `3.4 KiB`, `100 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  const value = bytes / 1_024 ** power;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power - 1]}`;
}

/** A count for people: `1 line`, `2,000,000 lines`. */
export const formatCount = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
