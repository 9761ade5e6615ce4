import { randomBytes } from 'node:crypto';
import type { Clock } from '../state/state.ts';
import { SlackError } from './slack-error.ts';

/** Trigger ids: one use within 3 s of the interaction (Slack: "Modals", trigger_id). Bounded: old ones are forgotten. */
export class Triggers {
  /** How long a trigger may be used. */
  lifetimeMs = 3_000;
  private readonly known = new Map<string, { user: string; atMs: number; used: boolean }>();
  private readonly now: Clock;

  constructor(now: Clock) {
    this.now = now;
  }

  issue(user: string): string {
    const id = `${Math.floor(this.now() / 1000)}.${randomBytes(4).readUInt32BE()}.${randomBytes(16).toString('hex')}`;
    this.known.set(id, { user, atMs: this.now(), used: false });
    const oldest = this.known.keys().next().value;
    if (this.known.size > 10_000 && oldest !== undefined) this.known.delete(oldest);
    return id;
  }

  /** @returns whose trigger it was. @throws SlackError invalid_trigger_id, exchanged_trigger_id, expired_trigger_id */
  exchange(id: string): string {
    const found = this.known.get(id);
    if (found === undefined) throw new SlackError('invalid_trigger_id');
    if (found.used) throw new SlackError('exchanged_trigger_id');
    if (this.now() - found.atMs > this.lifetimeMs) throw new SlackError('expired_trigger_id');
    found.used = true;
    return found.user;
  }
}
