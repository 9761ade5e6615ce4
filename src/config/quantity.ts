/** Units of the policy file's durations, in milliseconds. */
const DURATION_UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Units of its sizes, in bytes. */
const SIZE_UNITS: Readonly<Record<string, number>> = { Ki: 1_024, Mi: 1_024 ** 2, Gi: 1_024 ** 3 };

/** One number and one unit, as in `15m` or `7d`. */
export const DURATION = /^(?<amount>[1-9]\d{0,6})(?<unit>[smhd])$/;

/** One number and one binary unit, as in `100Mi`. */
export const SIZE = /^(?<amount>[1-9]\d{0,6})(?<unit>[KMG]i)$/;

/** Milliseconds of a text that matches `DURATION`, else NaN. */
export const durationMs = (text: string): number => quantity(DURATION.exec(text), DURATION_UNITS);

/** Bytes of a text that matches `SIZE`, else NaN. */
export const sizeBytes = (text: string): number => quantity(SIZE.exec(text), SIZE_UNITS);

const quantity = (match: RegExpExecArray | null, units: Readonly<Record<string, number>>): number =>
  Number(match?.groups?.amount ?? Number.NaN) * (units[match?.groups?.unit ?? ''] ?? Number.NaN);
