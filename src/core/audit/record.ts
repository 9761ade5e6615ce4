import { sha256 } from '../hash.ts';
import { redactText } from '../redact/redact-text.ts';

/** An event to record; the `AuditEntry` of the flow is one. */
export interface AuditEvent {
  readonly step: string;
  readonly atMs: number;
  readonly runId: string;
  readonly channelId: string;
  readonly actorId: string;
  readonly facts: Readonly<Record<string, Fact | undefined>>;
}

type Fact = string | number | boolean;

/** A record as it is written: one line of JSON with the fields in this order. */
export interface AuditRecord {
  readonly v: 1;
  /** One start of one process. */
  readonly chain: string;
  /** 0 for the record `genesis`, which starts every chain; then rising by one. */
  readonly seq: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  /** A step of a run, or `genesis`, or `end` at a graceful stop of the process. */
  readonly step: string;
  readonly run: string;
  readonly channel: string;
  readonly actor: string;
  readonly facts: Readonly<Record<string, Fact>>;
  /** The `mac` of the previous record: in `genesis`, of the last one in the file, or empty. */
  readonly prev: string;
  /** HMAC-SHA-256 of everything before it, in hexadecimal. */
  readonly mac: string;
}

/** The longest text that a record stores whole, in UTF-16 units. */
const MAX_TEXT_LENGTH = 2_000;
/** Text beyond this is not examined: the longest command has 16,000. */
const MAX_EXAMINED_LENGTH = 20_000;
/** A shorter text holds no secret of a known shape. */
const MIN_SECRET_LENGTH = 8;
const MAX_FACTS = 40;
/** Twice the longest possible record, with every character escaped. */
export const MAX_LINE_BYTES = 2 * 6 * MAX_TEXT_LENGTH * (MAX_FACTS + 3);

/** Slack's tokens and private reply addresses, in any form; `findSecrets` knows the other secrets. */
const SLACK_SECRETS = ['\\b(?:xox[a-z]|xapp)[-.][\\w.%-]+', 'https?://hooks\\.slack[^\\s"\'<>\\\\]*'];

/** Removes secrets by value and by shape, then cuts what is too long and adds a hash of the whole text. */
function cleanText(text: string, secrets: readonly string[]): string {
  if (text.length < MIN_SECRET_LENGTH) return text;
  const withoutValues = secrets.reduce(
    (rest, secret) => rest.replaceAll(secret, '[redacted]'),
    text.slice(0, MAX_EXAMINED_LENGTH),
  );
  const clean = redactText(withoutValues, SLACK_SECRETS);
  if (clean.length <= MAX_TEXT_LENGTH) return clean;
  return `${clean.slice(0, MAX_TEXT_LENGTH)}… [${text.length} characters, sha256 ${sha256(clean)}]`;
}

/**
 * The event as it may be written: every text without secrets (`secrets` by value, each at least 8 characters; Slack's
 * tokens and reply addresses and the other known shapes), at most 2,000 characters each and 40 facts. Numbers that JSON
 * does not have become text. @throws RangeError if `atMs` is not a time
 */
export function cleanAuditEvent(event: AuditEvent, secrets: readonly string[]): AuditEvent {
  const { step, atMs, runId, channelId, actorId, facts } = event;
  new Date(atMs).toISOString();
  const text = (value: string): string => cleanText(value, secrets);
  const fact = (value: Fact): Fact => {
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    return typeof value === 'string' ? text(value) : value;
  };
  const entries = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, fact(value)]]));
  return {
    step,
    atMs,
    runId: text(runId),
    channelId: text(channelId),
    actorId: text(actorId),
    facts: Object.fromEntries(entries.slice(0, MAX_FACTS)),
  };
}
