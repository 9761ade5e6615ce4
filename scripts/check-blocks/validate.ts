import { z } from 'zod';

/** What Slack shall look at: one message, or one view. */
export interface Payload {
  readonly name: string;
  readonly kind: 'message' | 'view';
  readonly content: object;
}

export interface Finding {
  readonly name: string;
  /** Slack's own words, each with the place as a JSON pointer. */
  readonly problems: readonly string[];
}

export interface Asking {
  readonly url: string;
  /** Milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
}

export const SLACK_URL = 'https://slack.com/api/blocks.validate';

/** Slack names no figure for this method ("special rate limits apply"): three a second. */
const PAUSE_MS = 333;
const MAX_TRIES = 5;
const DEFAULT_RETRY_AFTER_S = 30;
/** A request that hangs is a failure of the check, not of the blocks. */
const TIMEOUT_MS = 30_000;

/** The fields of the answer that we read (Slack, "blocks.validate method"). */
const Answer = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  errors: z
    .array(
      z.union([
        z.string(),
        z
          .object({ pointer: z.string(), code: z.string(), message: z.string() })
          .transform(({ pointer, code, message }) => `${pointer === '' ? '/' : pointer}: ${code}: ${message}`),
      ]),
    )
    .default([]),
});

/** The errors that say what is wrong with the content; any other is about the call. */
const INVALID: ReadonlySet<string> = new Set(['invalid_blocks', 'invalid_message', 'invalid_view']);

/**
 * Asks Slack's public validator (no token, no scope) about each payload, a few a second. Waits as long as a 429 demands.
 * @throws Error when Slack cannot be asked
 */
export async function findingsOf(payloads: readonly Payload[], asking: Asking): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const payload of payloads) {
    const problems = await problemsOf(payload, asking);
    if (problems.length > 0) findings.push({ name: payload.name, problems });
    await asking.wait(PAUSE_MS);
  }
  return findings;
}

async function problemsOf({ name, kind, content }: Payload, { url, wait }: Asking): Promise<readonly string[]> {
  for (let count = 1; count <= MAX_TRIES; count += 1) {
    const body = new URLSearchParams({ [kind]: JSON.stringify(content) });
    const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.status === 429) {
      await response.body?.cancel();
      await wait(1_000 * (Number(response.headers.get('retry-after')) || DEFAULT_RETRY_AFTER_S));
      continue;
    }
    return problemsIn(response, name);
  }
  throw new Error(`${name}: Slack still limits the calls after ${MAX_TRIES} tries`);
}

async function problemsIn(response: Response, name: string): Promise<readonly string[]> {
  const text = await response.text();
  const answer = response.ok ? Answer.safeParse(jsonOf(text)) : undefined;
  if (!answer?.success) throw new Error(`${name}: HTTP ${response.status}, not an answer of Slack's`);
  const { ok, error = 'no error named', errors } = answer.data;
  if (ok) return [];
  if (!INVALID.has(error)) throw new Error(`${name}: Slack does not validate: ${error}`);
  return errors.length > 0 ? errors : [error];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
