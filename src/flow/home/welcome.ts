import { toKdebugError } from '../../core/errors.ts';
import { reasonMessage } from '../../core/say/answers/private-messages.ts';
import { notInPolicyMessage, welcomeMessage } from '../../core/say/answers/welcome-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import { own } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { Actor, Welcome } from '../ports/slack.ts';

type Deps = Pick<FlowDeps, 'policies' | 'directory' | 'clock' | 'log'>;

/** Nobody can make the bot repeat itself in a channel by inviting it again and again. */
const ONCE_PER_MS = 10 * 60_000;
/** From this many channels on, forgets those whose time is over. */
const MANY = 1_000;

/** Answers invitations of the bot: once per channel in ten minutes, on each replica. */
export class Welcomes {
  readonly #deps: Deps;
  readonly #lastAtMs = new Map<string, number>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Says what the channel may do, or how it is added to the policy. If another company reads along and the policy does
   * not allow that, or if Slack cannot say, only the person who invited the bot gets the answer. Never rejects.
   */
  async answer({ channelId }: Actor): Promise<Welcome> {
    if (this.#isRepeated(channelId)) return { kind: 'nothing' };
    const policy = this.#deps.policies.current();
    const channel = own(policy.channels, channelId);
    const message = channel ? welcomeMessage(channel, policy) : notInPolicyMessage(channelId, policy);
    if (channel?.slackConnect === 'allowed') return { kind: 'post', message };
    const problem = await this.#sharingProblem(channelId);
    return problem ? { kind: 'message', message: problem } : { kind: 'post', message };
  }

  async #sharingProblem(channelId: string): Promise<Message | undefined> {
    try {
      const { isShared } = await this.#deps.directory.channel(channelId);
      return isShared ? reasonMessage('channel_shared') : undefined;
    } catch (thrown) {
      const { code, detail } = toKdebugError(thrown);
      this.#deps.log.warn('channel lookup failed, sharing unknown', { channelId, reason: code, detail });
      return reasonMessage('channel_sharing_unknown');
    }
  }

  #isRepeated(channelId: string): boolean {
    const nowMs = this.#deps.clock.elapsed();
    const lastAtMs = this.#lastAtMs.get(channelId);
    if (lastAtMs !== undefined && nowMs - lastAtMs < ONCE_PER_MS) return true;
    if (this.#lastAtMs.size >= MANY)
      for (const [id, atMs] of this.#lastAtMs) if (nowMs - atMs >= ONCE_PER_MS) this.#lastAtMs.delete(id);
    this.#lastAtMs.set(channelId, nowMs);
    return false;
  }
}
