import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { signedRequest } from '../../play/slack/deliver/signed.ts';
import type { Served } from './served.ts';

export interface LoadConfig {
  readonly url: string;
  readonly signingSecret: string;
  readonly perSecond: number;
  /** One request each, in order; signed when they are sent. */
  readonly bodies: readonly string[];
}

export interface LoadResult {
  /** From the moment that a request was due to its answer, in milliseconds; in the order in which they were due. */
  readonly latencies: readonly number[];
  /** Answers that were not 200, and requests without one. */
  readonly failures: number;
}

const FORM = 'application/x-www-form-urlencoded';
const LIMIT_MS = 10_000;

/** Open loop: every request is sent when it is due, whether or not the ones before were answered. */
export async function sendLoad(config: LoadConfig): Promise<Served<LoadResult>> {
  const agent = new Agent({ connections: 256, keepAliveTimeout: 30_000 });
  let failures = 0;
  const send = async (body: string, dueMs: number): Promise<number> => {
    const bytes = signedRequest(config.signingSecret, Date.now(), { type: FORM, body }, {});
    try {
      const signal = AbortSignal.timeout(LIMIT_MS);
      const answer = await request(config.url, { method: 'POST', ...bytes, dispatcher: agent, signal });
      await answer.body.dump();
      if (answer.statusCode !== 200) failures += 1;
    } catch {
      failures += 1;
    }
    return performance.now() - dueMs;
  };
  const sent: Promise<number>[] = [];
  const startMs = performance.now();
  for (const [index, body] of config.bodies.entries()) {
    const dueMs = startMs + (index * 1000) / config.perSecond;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    sent.push(send(body, dueMs));
  }
  const latencies = await Promise.all(sent);
  await agent.close();
  return { result: { latencies, failures } };
}
