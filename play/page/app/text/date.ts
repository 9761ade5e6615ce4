/** Slack's date tokens (docs.slack.dev, "Formatting text for app surfaces": date formatting), in the reader's own zone. */
export interface Reader {
  /** IANA name; absent: the browser's. */
  readonly zone?: string;
  readonly nowMs: number;
}

const DAY_MS = 86_400_000;
const HALF_YEAR_MS = 183 * DAY_MS;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(atMs: number, zone: string | undefined, options: Intl.DateTimeFormatOptions): string {
  const key = `${zone}${JSON.stringify(options)}`;
  let made = formats.get(key);
  if (made === undefined) {
    made = new Intl.DateTimeFormat('en-US', zone === undefined ? options : { ...options, timeZone: zone });
    formats.set(key, made);
  }
  // Newer ICU puts a narrow no-break space before AM; Slack has an ordinary one.
  return made.format(atMs).replaceAll('\u202F', ' ');
}

/** `2026-11-21` in the reader's zone. */
export function dayOf(atMs: number, { zone }: Pick<Reader, 'zone'> = {}): string {
  if (zone === undefined) {
    // The browser's own zone; far faster than Intl, and asked for each message at each drawing.
    const at = new Date(atMs);
    const two = (value: number): string => String(value).padStart(2, '0');
    return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  }
  const part = (options: Intl.DateTimeFormatOptions): string => format(atMs, zone, options);
  return `${part({ year: 'numeric' })}-${part({ month: '2-digit' })}-${part({ day: '2-digit' })}`;
}

function nearDay(atMs: number, { zone, nowMs }: Reader): string | undefined {
  const day = dayOf(atMs, { ...(zone !== undefined && { zone }) });
  const of = (ms: number): string => dayOf(ms, { ...(zone !== undefined && { zone }) });
  if (day === of(nowMs)) return 'today';
  if (day === of(nowMs - DAY_MS)) return 'yesterday';
  return day === of(nowMs + DAY_MS) ? 'tomorrow' : undefined;
}

function ordinal(day: number): string {
  const tens = day % 100;
  if (tens >= 11 && tens <= 13) return `${day}th`;
  return `${day}${['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'}`;
}

const isNear = (atMs: number, { nowMs }: Reader): boolean => Math.abs(nowMs - atMs) < HALF_YEAR_MS;

const monthDay = (atMs: number, { zone }: Reader): string =>
  `${format(atMs, zone, { month: 'long' })} ${ordinal(Number(format(atMs, zone, { day: 'numeric' })))}`;

const year = (atMs: number, { zone }: Reader): string => format(atMs, zone, { year: 'numeric' });
const weekday = (atMs: number, { zone }: Reader): string => format(atMs, zone, { weekday: 'long' });

/** Without the year within half a year, as Slack does. */
const date = (atMs: number, reader: Reader): string =>
  isNear(atMs, reader) ? monthDay(atMs, reader) : `${monthDay(atMs, reader)}, ${year(atMs, reader)}`;

const dateLong = (atMs: number, reader: Reader): string =>
  `${weekday(atMs, reader)}, ${monthDay(atMs, reader)}, ${year(atMs, reader)}`;

const dateShort = (atMs: number, { zone }: Reader): string =>
  format(atMs, zone, { month: 'short', day: 'numeric', year: 'numeric' });

/** `2:05 PM` */
export const timeOf = (atMs: number, { zone }: Pick<Reader, 'zone'> = {}): string =>
  format(atMs, zone, { hour: 'numeric', minute: '2-digit' });

/** `just now`, `3 minutes ago`, `in 2 hours`. */
export function agoOf(atMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - atMs) / 1000);
  const size = Math.abs(seconds);
  if (size < 10) return 'just now';
  const [count, unit] =
    size < 60
      ? [size, 'second']
      : size < 3600
        ? [Math.floor(size / 60), 'minute']
        : size < 86_400
          ? [Math.floor(size / 3600), 'hour']
          : [Math.floor(size / 86_400), 'day'];
  const words = `${count} ${unit}${count === 1 ? '' : 's'}`;
  return seconds < 0 ? `in ${words}` : `${words} ago`;
}

/** `Today`, `Yesterday`, `Saturday, November 21st`. */
export function dayTitle(atMs: number, reader: Reader): string {
  const near = nearDay(atMs, reader);
  if (near !== undefined) return near.charAt(0).toUpperCase() + near.slice(1);
  return `${weekday(atMs, reader)}, ${date(atMs, reader)}`;
}

type Token = (atMs: number, reader: Reader) => string;

const TOKENS: Readonly<Record<string, Token>> = {
  date_num: (atMs, { zone }) => dayOf(atMs, zone === undefined ? {} : { zone }),
  date_slash: (atMs, { zone }) => format(atMs, zone, { month: '2-digit', day: '2-digit', year: 'numeric' }),
  date,
  date_pretty: (atMs, reader) => nearDay(atMs, reader) ?? date(atMs, reader),
  date_short: dateShort,
  date_short_pretty: (atMs, reader) => nearDay(atMs, reader) ?? dateShort(atMs, reader),
  date_long: dateLong,
  date_long_pretty: (atMs, reader) => nearDay(atMs, reader) ?? dateLong(atMs, reader),
  date_long_full: dateLong,
  day_divider_pretty: dayTitle,
  time: (atMs, { zone }) => timeOf(atMs, zone === undefined ? {} : { zone }),
  time_secs: (atMs, { zone }) => format(atMs, zone, { hour: 'numeric', minute: '2-digit', second: '2-digit' }),
  ago: (atMs, { nowMs }) => agoOf(atMs, nowMs),
};

/** A date as Slack would write it; without a moment or with an unknown token, the fallback. */
export function slackDate(
  timestamp: number,
  wanted: string,
  { fallback, ...reader }: Reader & { fallback: string },
): string {
  const atMs = timestamp * 1000;
  if (!Number.isFinite(atMs) || Math.abs(atMs) > 8.64e15) return fallback;
  let isKnown = true;
  const made = wanted.replace(/\{([a-z_]+)\}/g, (whole, name: string) => {
    const token = Object.hasOwn(TOKENS, name) ? TOKENS[name] : undefined;
    isKnown &&= token !== undefined;
    return token?.(atMs, reader) ?? whole;
  });
  if (!isKnown || made === '') return fallback;
  return wanted.startsWith('{') ? made.charAt(0).toUpperCase() + made.slice(1) : made;
}

/** A message's `ts` as milliseconds. */
export const msOf = (ts: string): number => Number(ts) * 1000;
