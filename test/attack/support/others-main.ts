import { randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { signedRequest } from '../../../play/slack/deliver/signed.ts';
import type { OthersPlan } from './others.ts';

/** Asks the bot again and again, and tells the parent the longest wait (`others.ts`). */
const EVERY_MS = 100;
const plan = JSON.parse(process.argv[2] ?? '') as OthersPlan;
// A bot that is stopped altogether is measured too, so nothing here gives up.
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 60_000 } });

class Asker {
  #longestMs = 0;
  #askedAtMs: number | undefined;
  asked = 0;
  unanswered = 0;
  readonly #ask: () => Promise<void>;

  constructor(ask: () => Promise<void>) {
    this.#ask = ask;
  }

  reset(): void {
    this.#longestMs = 0;
    this.asked = 0;
    this.unanswered = 0;
  }

  get longestMs(): number {
    const open = this.#askedAtMs === undefined ? 0 : performance.now() - this.#askedAtMs;
    return Math.max(this.#longestMs, open);
  }

  async goOn(): Promise<never> {
    for (;;) {
      this.#askedAtMs = performance.now();
      this.asked += 1;
      await this.#ask().catch(() => {
        this.unanswered += 1;
      });
      this.#longestMs = this.longestMs;
      this.#askedAtMs = undefined;
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }
}

async function livez(): Promise<void> {
  const answer = await request(plan.livezUrl, { dispatcher });
  await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`/livez answered ${answer.statusCode}`);
}

async function help(): Promise<void> {
  const fields = { ...plan.help, trigger_id: `${Date.now()}.${randomBytes(6).toString('hex')}` };
  const body = new URLSearchParams(fields as Record<string, string>).toString();
  const content = { type: 'application/x-www-form-urlencoded', body };
  const signed = signedRequest(plan.signingSecret, Date.now(), content, {});
  const answer = await request(plan.eventsUrl, { method: 'POST', ...signed, dispatcher });
  await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`/kdebug help was answered with ${answer.statusCode}`);
}

const askers = { livez: new Asker(livez), help: new Asker(help) };
process.on('disconnect', () => process.exit());
process.on('message', (word) => {
  const { livez: health, help: person } = askers;
  process.send?.({
    livezMs: health.longestMs,
    helpMs: person.longestMs,
    asked: Math.min(health.asked, person.asked),
    unanswered: health.unanswered + person.unanswered,
  });
  if (word !== 'begin') return;
  health.reset();
  person.reset();
});
process.send?.('ready');
void askers.livez.goOn();
void askers.help.goOn();
