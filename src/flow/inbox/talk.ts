import { type Talk, talkIn } from '../../core/command/talk.ts';
import { toKdebugError } from '../../core/errors.ts';
import { isDirect } from '../../core/ids.ts';
import { resolveNamespace } from '../../core/planning/resolve.ts';
import { channelPolicy, type Policy } from '../../core/policy/policy.ts';
import type { ParsedCommand, RunRequest } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import { helpMessage } from '../../core/say/answers/help.ts';
import { reasonMessage, talkMessage } from '../../core/say/answers/private-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import { withDeadline } from '../../lib/clock.ts';
import { LookupLimiter } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { mayUseDirect } from '../planning/approvers.ts';
import { planOrRefusal } from '../run/plan.ts';

/** After this time, a mention counts as a command. */
const POD_LOOKUP_MS = 1_000;

/** Answers mentions that are not commands. Starts and stores nothing. */
export class Talks {
  readonly #deps: FlowDeps;
  readonly #lookups: LookupLimiter;

  constructor(deps: FlowDeps) {
    this.#deps = deps;
    this.#lookups = new LookupLimiter(deps);
  }

  /**
   * Returns the help if a mention is no command and names no pod. Undefined: treat it as a command; also if looking up the pod fails, takes
   * too long, is not allowed, or exceeds the person's limit.
   */
  async answer(origin: Origin, words: string, parsed: ParsedCommand): Promise<Message | undefined> {
    if (origin.source !== 'mention') return undefined;
    // A mention has no trigger that could open a form.
    if (parsed.kind === 'ok' && parsed.command.kind === 'form') return helpMessage();
    const talk = talkIn(words, parsed);
    if (!talk?.request) return talk && talkMessage(talk, undefined);
    if (this.#lookups.refusal(origin.requesterId, 'talk')) return undefined;
    return this.#answerUnlessPod(talk, talk.request, origin);
  }

  async #answerUnlessPod(talk: Talk, request: RunRequest, origin: Origin): Promise<Message | undefined> {
    const { clock, policies } = this.#deps;
    if (!(await withDeadline(clock, POD_LOOKUP_MS, isNoPod(request, origin, this.#deps), () => false)))
      return undefined;
    const resolved = resolveNamespace(request, origin.channelId, policies.current());
    return talkMessage(talk, resolved.kind === 'ok' ? resolved.namespace : undefined);
  }
}

/** Looks up the pod as planning does, so the answer reveals no more than a run would. */
async function isNoPod(typed: RunRequest, origin: Origin, deps: FlowDeps): Promise<boolean> {
  const request = withImage(typed, deps.policies.current());
  const untilMs = deps.clock.elapsed() + POD_LOOKUP_MS;
  try {
    await planOrRefusal({ origin, request }, deps, { isOver: () => deps.clock.elapsed() >= untilMs });
    return false;
  } catch (thrown) {
    return toKdebugError(thrown).code === 'pod_not_found';
  }
}

/** Without a default image, uses any image: only the pod matters here. */
function withImage(request: RunRequest, { defaultImage, images }: Policy): RunRequest {
  const [image] = Object.keys(images);
  return defaultImage === undefined && image !== undefined ? { ...request, image } : request;
}

/**
 * The answer to everything but help in a direct or group message. Undefined: a channel, a group message that the policy names, or a direct
 * message of somebody who may use kdebug there. @throws as `mayUseDirect`
 */
export async function channelNeeded(
  { channelId, inGroupMessage, requesterId }: Pick<Origin, 'channelId' | 'inGroupMessage' | 'requesterId'>,
  deps: Pick<FlowDeps, 'policies' | 'directory'>,
  parsed?: ParsedCommand,
): Promise<Message | undefined> {
  if (parsed?.kind === 'ok' && parsed.command.kind === 'help') return undefined;
  if (!inGroupMessage && !isDirect(channelId)) return undefined;
  if (!channelPolicy(deps.policies.current(), channelId)) return reasonMessage('channel_needed');
  if (!isDirect(channelId)) return undefined;
  return (await mayUseDirect(requesterId, deps)) ? undefined : reasonMessage('direct_not_allowed');
}
