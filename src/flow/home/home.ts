import { isSamePerson } from '../../core/planning/identity.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import { homeMessage, type RunOnHome } from '../../core/say/answers/home-messages.ts';
import { reasonMessage } from '../../core/say/answers/private-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import { withDeadline, withDefault } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { isInGroup } from '../planning/approvers.ts';
import { type Actor, ANSWER_WITHIN_MS } from '../ports/slack.ts';
import { theirChannels } from './their-channels.ts';

/** For each question to Slack: the page is useful without its answer. */
const SLACK_MS = 800;
/** Bounds on what one visit reads and shows. */
const MAX_CHANNELS = 30;
const READ_PER_CHANNEL = 20;
const MAX_WAITING = 20;
const MAX_MINE = 10;
const MAX_SHOWN_CHANNELS = 8;

/** Everything that the Home tab shows to one person. Reads the newest 20 runs of at most 30 channels. */
export function homeFor(visitor: Actor, deps: FlowDeps): Promise<Message> {
  return withDeadline(deps.clock, ANSWER_WITHIN_MS, read(visitor, deps), () => reasonMessage('home_late'));
}

async function read(visitor: Actor, deps: FlowDeps): Promise<Message> {
  const policy = deps.policies.current();
  const lookups = new SlackLookups(deps);
  const [{ ids, tooLarge, unknown }, groups] = await Promise.all([
    theirChannels(visitor.userId, policy, deps, SLACK_MS),
    groupsOf(visitor, policy, lookups),
  ]);
  const theirs: ReadonlySet<string> = new Set(ids);
  const runs = await runsOf([...new Set([visitor.channelId, ...theirs, ...approvedBy(groups, policy)])], deps);
  const waiting = runs.filter((run) => mayDecide(run, { visitor, groups, policy })).slice(-MAX_WAITING);
  const mine = runs.filter(({ origin }) => origin.requesterId === visitor.userId).slice(-MAX_MINE);
  const shown = (run: Run) => withLink(run, { visitor, theirs, lookups });
  const [waitingShown, mineShown] = await Promise.all([
    Promise.all(waiting.map(shown)),
    Promise.all(mine.toReversed().map(shown)),
  ]);
  return homeMessage({
    waiting: groups.size === 0 ? undefined : waitingShown,
    mine: mineShown,
    channels: Object.entries(policy.channels)
      .filter(([id]) => theirs.has(id))
      .slice(0, MAX_SHOWN_CHANNELS),
    channelsLeftOut: Math.max(0, theirs.size - MAX_SHOWN_CHANNELS),
    policy,
    channelsTooLarge: tooLarge,
    isIncomplete: lookups.hasFailed || unknown > 0,
    nowMs: deps.clock.now(),
  });
}

/** Questions to Slack that may stay without an answer. */
class SlackLookups {
  readonly deps: FlowDeps;
  hasFailed = false;

  constructor(deps: FlowDeps) {
    this.deps = deps;
  }

  async or<Value, Other>(question: Promise<Value>, other: Other): Promise<Value | Other> {
    const unanswered = (): Other => {
      this.hasFailed = true;
      return other;
    };
    return withDefault(this.deps.clock, SLACK_MS, question, unanswered);
  }
}

/** The groups of approvers that the person is in. Nobody is in a group whose members kdebug may not read. */
async function groupsOf({ userId }: Actor, policy: Policy, lookups: SlackLookups): Promise<ReadonlySet<string>> {
  const names = [...new Set(rulesOf(policy).flatMap(({ approval }) => approval?.from ?? []))];
  const isIn = await Promise.all(names.map((name) => lookups.or(isInGroup(name, userId, lookups.deps), undefined)));
  return new Set(names.filter((_, index) => isIn[index] === true));
}

const rulesOf = ({ channels }: Policy) => Object.values(channels).flatMap(({ rules }) => rules);

const approvedBy = (groups: ReadonlySet<string>, { channels }: Policy): readonly string[] =>
  Object.entries(channels)
    .filter(([, { rules }]) => rules.some(({ approval }) => approval?.from.some((name) => groups.has(name))))
    .map(([id]) => id);

/** The oldest first. */
async function runsOf(channelIds: readonly string[], { store }: FlowDeps): Promise<readonly Run[]> {
  const read = await Promise.all(channelIds.slice(0, MAX_CHANNELS).map((id) => store.recent(id, READ_PER_CHANNEL)));
  return read.flat().toSorted((one, other) => one.origin.receivedAtMs - other.origin.receivedAtMs);
}

interface Deciding {
  readonly visitor: Actor;
  readonly groups: ReadonlySet<string>;
  readonly policy: Policy;
}

/** The run waits for this person's vote. The click decides afresh. */
const mayDecide = ({ state, approval, origin }: Run, { visitor: { userId }, groups, policy }: Deciding): boolean =>
  state === 'pending-approval' &&
  approval !== undefined &&
  approval.from.some((name) => groups.has(name)) &&
  !approval.votes.some((vote) => vote.userId === userId) &&
  !isSamePerson(policy.identity, origin, userId);

interface Reader {
  readonly visitor: Actor;
  readonly theirs: ReadonlySet<string>;
  readonly lookups: SlackLookups;
}

/** Links to their own copy of the card, else to the card where they can read it. */
async function withLink(run: Run, { visitor, theirs, lookups }: Reader): Promise<RunOnHome> {
  const { anchor } = run.delivery;
  const isReadable = anchor && (theirs.has(anchor.channelId) || run.origin.requesterId === visitor.userId);
  const copy: PostRef | undefined = run.asked?.copies.find(
    ({ userId, isReminder }) => userId === visitor.userId && !isReminder,
  );
  const card = copy ?? (isReadable ? anchor : undefined);
  const url = card && (await lookups.or(lookups.deps.thread.permalink(card), undefined));
  return { run, ...defined({ url }) };
}
