import type { WebClient } from '@slack/web-api';
import { KdebugError } from '../../../core/errors.ts';
import type { Clock } from '../../../flow/ports/machine.ts';
import type { Place } from '../../../flow/ports/slack.ts';
import type { Poster } from '../poster/poster.ts';

const MAX_PEOPLE = 10_000;
/** An app that is installed anew has other ones. */
const MAX_AGE_MS = 10 * 60_000;

interface Opened {
  readonly place: Promise<Place>;
  readonly atMs: number;
}

/**
 * The direct messages with people. Slack has one with each person and no other, so it is asked for once in a while: who asks for many
 * approvals in a row does not use up the workspace's minute of conversations.open, in which private results are opened too.
 */
export class DirectMessages {
  readonly #client: WebClient;
  readonly #poster: Poster;
  readonly #clock: Clock;
  readonly #known = new Map<string, Opened>();

  constructor({ client, clock }: { readonly client: WebClient; readonly clock: Clock }, poster: Poster) {
    this.#clock = clock;
    this.#client = client;
    this.#poster = poster;
  }

  /** @throws as `Thread`; a failure is not kept */
  open(userId: string): Promise<Place> {
    const known = this.#known.get(userId);
    const nowMs = this.#clock.now();
    if (known !== undefined && nowMs - known.atMs < MAX_AGE_MS) return known.place;
    const opened = { place: this.#ask(userId), atMs: nowMs };
    this.#keep(userId, opened);
    opened.place.catch(() => {
      if (this.#known.get(userId) === opened) this.#known.delete(userId);
    });
    return opened.place;
  }

  async #ask(userId: string): Promise<Place> {
    const call = { method: 'conversations.open', lane: 'final', repeatable: true } as const;
    const { channel } = await this.#poster.call(call, () => this.#client.conversations.open({ users: userId }));
    if (!channel?.id) throw new KdebugError('slack_unanswered', { facts: { kind: 'no_channel' } });
    return { channelId: channel.id };
  }

  #keep(userId: string, opened: Opened): void {
    this.#known.delete(userId);
    this.#known.set(userId, opened);
    const oldest = this.#known.keys().next();
    if (this.#known.size > MAX_PEOPLE && !oldest.done) this.#known.delete(oldest.value);
  }
}
