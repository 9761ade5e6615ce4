import { toKdebugError } from '../../core/errors.ts';
import { isSamePerson } from '../../core/planning/identity.ts';
import type { Run } from '../../core/run/run.ts';
import type { Notice, SentCopies } from '../../core/run/sent-copies.ts';
import { type BackOff, delayOf } from '../../lib/backoff.ts';
import { defined, own } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { threadOf } from '../context/destinations.ts';
import { isForGood } from '../context/post-once.ts';
import { inChannel, type PendingRun } from '../planning/approvers.ts';
import type { Destination } from '../ports/slack.ts';

/** Per request. */
const MAX_DIRECT = 20;
/** Per request: look-ups share Slack's limit per minute with all clicks and commands. */
const MAX_LOOKED_UP = 40;
/** Between two looks for approvers whom Slack did not tell: at least 5 s. */
const AGAIN: BackOff = { firstMs: 10_000, maxMs: 60_000 };

type Deps = Pick<FlowDeps, 'policies' | 'directory' | 'clock' | 'log' | 'random'>;

/** Falls back to `other` if Slack cannot answer. */
type OrElse = <Value, Other>(question: Promise<Value>, other: Other) => Promise<Value | Other>;

/**
 * Chooses who gets a copy of a request's card. A group with a channel gets one there. Of the other approvers, those who
 * do not see the card get a direct message; all do if the card's channel is private. Never the requester, under any
 * account, and only full members of the workspace. Treats what Slack refuses to tell as unknown, and then prefers one
 * message too many; with `isLastTry`, also on a passing failure. If that may hide an approver, says when to look
 * `again`, and asks first those who have a copy already: they count towards the bound.
 * @throws KdebugError the `Directory`'s, if they may pass
 */
export async function whomToAsk(run: PendingRun, deps: Deps, isLastTry = false): Promise<SentCopies> {
  const looking = lookingFor(run, deps, isLastTry);
  const groups = run.approval.from.flatMap((name) => own(deps.policies.current().approvers, name) ?? []);
  const home = await homeOf(run, looking);
  const rooms = await roomsOf(new Set(groups.flatMap(({ channel }) => channel ?? [])), home, looking);
  const named = await Promise.all(
    groups.flatMap(({ usergroup }) =>
      usergroup === undefined ? [] : looking.orLater(deps.directory.members(usergroup), []),
    ),
  );
  const { identity } = deps.policies.current();
  const approvers = [
    ...new Set<string>([...groups.flatMap(({ users }) => users), ...named.flatMap((each) => [...each])]),
  ]
    .filter((userId) => !isSamePerson(identity, run.origin, userId))
    .filter((userId) => !rooms.people.has(userId));
  const away = approvers.filter((userId) => home.isPrivate || !home.members?.has(userId));
  const hasCopy = new Set(run.asked?.copies.map(({ userId }) => userId));
  const inOrder = [...away.filter((userId) => hasCopy.has(userId)), ...away.filter((userId) => !hasCopy.has(userId))];
  const { people, beyond } = await firstMembers(inOrder, looking);
  const notified = new Set(people);
  const isRoom = groups.some(({ channel }) => channel === home.channelId);
  const seesCard = (userId: string) => !notified.has(userId) && (home.members?.has(userId) ?? !home.isPrivate);
  const nowMs = deps.clock.now();
  const looks = (run.asked?.again?.looks ?? 0) + 1;
  const again = looking.isOpen() ? { looks, atMs: nowMs + delayOf(AGAIN, looks - 1, deps.random) } : undefined;
  return {
    remindAtMs: halfTimeOf(run, nowMs),
    here: isRoom || approvers.some(seesCard) || (home.members === undefined && !home.isPrivate),
    waiting: [...rooms.open.map(inRoom), ...people.map((userId): Notice => ({ kind: 'copy', userId }))],
    copies: [],
    ...defined({
      beyond: beyond > 0 ? beyond : undefined,
      closed: rooms.closed.length > 0 ? rooms.closed : undefined,
      again,
    }),
  };
}

const inRoom = (channelId: string): Notice => ({ kind: 'copy', channelId });

interface Looking {
  readonly deps: Deps;
  /** For what only saves a message too many. */
  readonly orElse: OrElse;
  /** For what may hide an approver: after a passing failure, the question stays open. */
  readonly orLater: OrElse;
  readonly isOpen: () => boolean;
}

function lookingFor({ id: runId }: PendingRun, deps: Deps, isLastTry: boolean): Looking {
  let isOpen = false;
  const note = (thrown: unknown, hidesApprover: boolean): void => {
    const { code, detail } = toKdebugError(thrown);
    const mayPass = !isForGood(code) && !NO_ANSWER_EVER.has(code);
    if (mayPass && !isLastTry) throw thrown;
    const staysOpen = mayPass && hidesApprover;
    isOpen ||= staysOpen;
    const words = staysOpen ? 'approver lookup failed, will ask again' : 'approver lookup failed, assuming none';
    deps.log.warn(words, { runId, reason: code, detail });
  };
  const ask =
    (hidesApprover: boolean): OrElse =>
    async (question, other) => {
      try {
        return await question;
      } catch (thrown) {
        note(thrown, hidesApprover);
        return other;
      }
    };
  return { deps, orElse: ask(false), orLater: ask(true), isOpen: () => isOpen };
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

async function homeOf({ delivery, origin }: PendingRun, { deps: { directory }, orElse }: Looking): Promise<Home> {
  const channelId = delivery.anchor?.channelId ?? origin.channelId;
  const [facts, members] = await Promise.all([
    orElse(directory.channel(channelId), undefined),
    orElse(directory.channelMembers(channelId), undefined),
  ]);
  return { channelId, isPrivate: facts?.isPrivate ?? true, members };
}

/** The approvers' own channels: `open`, where the bot may post and no other company reads along; the rest are `closed`. */
async function roomsOf(channels: ReadonlySet<string>, { channelId: home }: Home, { deps, orElse, orLater }: Looking) {
  const open: string[] = [];
  const closed: string[] = [];
  const people = new Set<string>();
  for (const channelId of channels) {
    if (channelId === home) continue;
    const facts = await orLater(deps.directory.channel(channelId), undefined);
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
async function firstMembers(userIds: readonly string[], { deps: { directory }, orLater }: Looking) {
  const people: string[] = [];
  let seen = 0;
  for (const userId of userIds) {
    if (people.length === MAX_DIRECT || seen === MAX_LOOKED_UP) break;
    seen += 1;
    const person = await orLater(directory.person(userId), undefined);
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

/** The answer to a further look: whoever has no copy yet gets one, also who could not be reached before. */
export function withFound(sent: SentCopies, found: SentCopies): SentCopies {
  const { remindAtMs, remindedAtMs, copies, waiting } = sent;
  const cards = copies.filter(({ isReminder }) => !isReminder).map(({ userId, channelId }) => userId ?? channelId);
  const known = new Set([...cards, ...waiting.filter(({ kind }) => kind === 'copy').map(recipientOf)]);
  const added = found.waiting.filter((notice) => !known.has(recipientOf(notice)));
  return { ...found, remindAtMs, ...defined({ remindedAtMs }), copies, waiting: [...waiting, ...added] };
}

const recipientOf = (notice: Notice): string => ('userId' in notice ? notice.userId : notice.channelId);

/** Begins the reminders or a further look for approvers, whichever is due. Undefined: neither. */
export function begunBy(nowMs: number, run: Run): SentCopies | undefined {
  const { asked: sent, approval } = run;
  if (run.state !== 'pending-approval' || !sent || nowMs >= (approval?.expiresAtMs ?? 0)) return undefined;
  const { again, remindAtMs, remindedAtMs, waiting } = sent;
  const reminds = remindedAtMs === undefined && nowMs >= remindAtMs;
  const looks = again?.atMs !== undefined && nowMs >= again.atMs;
  if (waiting.length > 0 || !(reminds || looks)) return undefined;
  return {
    ...sent,
    ...(reminds ? { remindedAtMs: nowMs, waiting: remindersOf(run, sent) } : {}),
    ...(looks ? { again: { looks: again.looks } } : {}),
  };
}

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
function remindersOf(run: Run, { here, copies }: SentCopies): readonly Notice[] {
  const { delivery, approval } = run;
  const { anchor } = delivery;
  const voted = new Set(approval?.votes.map(({ userId }) => userId));
  const thread = threadOf(run);
  const atCard: readonly Notice[] =
    here && anchor && delivery.anchorGone !== true && thread.threadTs !== undefined
      ? [{ kind: 'reminder', channelId: anchor.channelId, threadTs: thread.threadTs }]
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
