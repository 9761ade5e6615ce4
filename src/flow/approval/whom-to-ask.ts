import { toKdebugError } from '../../core/errors.ts';
import { isSamePerson } from '../../core/policy/identity.ts';
import type { Run } from '../../core/run/run.ts';
import type { Notice, SentCopies } from '../../core/run/sent-copies.ts';
import { defined, own } from '../../lib/object.ts';
import type { FlowDeps } from '../deps.ts';
import type { Destination } from '../ports/slack.ts';
import { isForGood } from '../reply/post-once.ts';
import { inChannel, type PendingRun } from './approvers.ts';

/** Per request. */
const MAX_DIRECT = 20;
/** Per request: look-ups share Slack's limit per minute with all clicks and commands. */
const MAX_LOOKED_UP = 40;

type Deps = Pick<FlowDeps, 'policies' | 'directory' | 'clock' | 'log'>;

/** Falls back to `other` if Slack cannot answer. */
type OrElse = <Value, Other>(question: Promise<Value>, other: Other) => Promise<Value | Other>;

/**
 * Who gets a copy of a request's card. A group with a channel gets one there. Of the other approvers, those who do not see the card get a
 * direct message; all do if the card's channel is private. Never the requester, under any account, and only full members of the workspace.
 * Treats what Slack refuses to tell as unknown, and then prefers one message too many; with `isLastTry`, also on a passing failure.
 * @throws KdebugError the `Directory`'s, if they may pass
 */
export async function whomToAsk(run: PendingRun, deps: Deps, isLastTry = false): Promise<SentCopies> {
  const orElse = orElseOf(run, deps, isLastTry);
  const groups = run.approval.from.flatMap((name) => own(deps.policies.current().approvers, name) ?? []);
  const home = await homeOf(run, deps, orElse);
  const rooms = await roomsOf(new Set(groups.flatMap(({ channel }) => channel ?? [])), home, { deps, orElse });
  const named = await Promise.all(
    groups.flatMap(({ usergroup }) => (usergroup === undefined ? [] : orElse(deps.directory.members(usergroup), []))),
  );
  const { identity } = deps.policies.current();
  const approvers = [
    ...new Set<string>([...groups.flatMap(({ users }) => users), ...named.flatMap((each) => [...each])]),
  ]
    .filter((userId) => !isSamePerson(identity, run.origin, userId))
    .filter((userId) => !rooms.people.has(userId));
  const away = approvers.filter((userId) => home.isPrivate || !home.members?.has(userId));
  const { people, beyond } = await firstMembers(away, deps, orElse);
  const notified = new Set(people);
  const isRoom = groups.some(({ channel }) => channel === home.channelId);
  const seesCard = (userId: string) => !notified.has(userId) && (home.members?.has(userId) ?? !home.isPrivate);
  return {
    remindAtMs: halfTimeOf(run, deps.clock.now()),
    here: isRoom || approvers.some(seesCard) || (home.members === undefined && !home.isPrivate),
    waiting: [...rooms.open.map(inRoom), ...people.map((userId): Notice => ({ kind: 'copy', userId }))],
    copies: [],
    ...defined({ beyond: beyond > 0 ? beyond : undefined, closed: rooms.closed.length > 0 ? rooms.closed : undefined }),
  };
}

const inRoom = (channelId: string): Notice => ({ kind: 'copy', channelId });

function orElseOf({ id: runId }: PendingRun, { log }: Deps, isLastTry: boolean): OrElse {
  return async (question, other) => {
    try {
      return await question;
    } catch (thrown) {
      const { code, detail } = toKdebugError(thrown);
      if (!isLastTry && !isForGood(code) && !NO_ANSWER_EVER.has(code)) throw thrown;
      log.warn('approver lookup failed, assuming none', { runId, reason: code, detail });
      return other;
    }
  };
}

const NO_ANSWER_EVER: ReadonlySet<string> = new Set([
  'usergroup_unknown',
  'person_unknown',
  'approvers_channel_closed',
]);

interface Home {
  readonly channelId: string;
  readonly isPrivate: boolean;
  readonly members: ReadonlySet<string> | undefined;
}

async function homeOf({ delivery, origin }: PendingRun, { directory }: Deps, orElse: OrElse): Promise<Home> {
  const channelId = delivery.anchor?.channelId ?? origin.channelId;
  const [facts, members] = await Promise.all([
    orElse(directory.channel(channelId), undefined),
    orElse(directory.channelMembers(channelId), undefined),
  ]);
  return { channelId, isPrivate: facts?.isPrivate ?? true, members };
}

interface Looking {
  readonly deps: Deps;
  readonly orElse: OrElse;
}

/** The approvers' own channels: `open`, where the bot may post and no other company reads along; the rest are `closed`. */
async function roomsOf(channels: ReadonlySet<string>, { channelId: home }: Home, { deps, orElse }: Looking) {
  const open: string[] = [];
  const closed: string[] = [];
  const people = new Set<string>();
  for (const channelId of channels) {
    if (channelId === home) continue;
    const facts = await orElse(deps.directory.channel(channelId), undefined);
    const isAllowed = own(deps.policies.current().channels, channelId)?.slackConnect === 'allowed';
    if (!facts?.isMember || (facts.isShared && !isAllowed)) {
      closed.push(channelId);
      continue;
    }
    open.push(channelId);
    for (const userId of await orElse(inChannel(channelId, deps.directory), [])) people.add(userId);
  }
  return { open, closed, people };
}

/** The first approvers who are full members, and how many remain. */
async function firstMembers(userIds: readonly string[], { directory }: Deps, orElse: OrElse) {
  const people: string[] = [];
  let seen = 0;
  for (const userId of userIds) {
    if (people.length === MAX_DIRECT || seen === MAX_LOOKED_UP) break;
    seen += 1;
    const person = await orElse(directory.person(userId), undefined);
    if (person?.kind === 'member') people.push(userId);
  }
  return { people, beyond: userIds.length - seen };
}

function halfTimeOf({ approval, decision }: PendingRun, nowMs: number): number {
  const { expiresAtMs } = approval;
  const termMs = decision?.kind === 'needs-approval' ? decision.approval.expiresMs : expiresAtMs - nowMs;
  return expiresAtMs - termMs / 2;
}

export const destinationOfCopy = ({
  channelId,
  threadTs,
}: {
  readonly channelId: string;
  readonly threadTs?: string;
}): Destination => ({
  channelId,
  ...defined({ threadTs }),
});

/** Records what could not be sent. A lost reminder needs no record. */
export function lost(sent: SentCopies, notice: Notice): SentCopies {
  if (notice.kind === 'reminder') return sent;
  if ('userId' in notice) return { ...sent, unreached: (sent.unreached ?? 0) + 1 };
  return { ...sent, closed: [...(sent.closed ?? []), notice.channelId] };
}

/**
 * One reminder in the card's thread if approvers see it there, one in the thread of each direct message, and one in each approvers'
 * channel.
 */
export function remindersOf({ delivery, origin, approval }: Run, { here, copies }: SentCopies): readonly Notice[] {
  const { anchor } = delivery;
  const voted = new Set(approval?.votes.map(({ userId }) => userId));
  const atCard: readonly Notice[] =
    here && anchor && delivery.anchorGone !== true
      ? [{ kind: 'reminder', channelId: anchor.channelId, threadTs: origin.threadTs ?? anchor.ts }]
      : [];
  const others = copies
    .filter(({ userId, isReminder }) => !isReminder && !(userId !== undefined && voted.has(userId)))
    .map(
      ({ userId, channelId, ts }): Notice => ({
        kind: 'reminder',
        channelId,
        ...defined({ threadTs: userId !== undefined ? ts : undefined }),
      }),
    );
  return [...atCard, ...others];
}
