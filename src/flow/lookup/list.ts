import { matchesFilter } from '../../core/lookup/matching-runs.ts';
import type { RunFilter } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import type { Run } from '../../core/run/run.ts';
import { type ListedRun, listMessage } from '../../core/say/answers/list-message.ts';
import { reasonMessage } from '../../core/say/answers/private-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import { withDeadline, withDefault } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { isInGroup } from '../planning/approvers.ts';
import { isForRequesterAlone } from '../planning/channel-check.ts';
import { ANSWER_WITHIN_MS } from '../ports/slack.ts';

const PAGE_RUNS = 10;
const MAX_PAGES = 20;
/** Runs that a search reads at most, and at a time: records are a few KiB, of a large batch some MiB. */
const MAX_SEARCHED = 200;
const READ_AT_ONCE = 25;
/** Of all channels together, one script of the store reads the ids. */
const MAX_CHANNELS = 50;
/** A list is useful without links; without an answer of Slack, output counts as private. */
const SLACK_MS = 800;

/** The answer to `list`: one page of runs, newest first. Reads at most 200 runs, however many there are. */
export function listRuns(origin: Origin, filter: RunFilter, deps: FlowDeps): Promise<Message> {
  return withDeadline(deps.clock, ANSWER_WITHIN_MS, list(origin, filter, deps), () => reasonMessage('lookup_late'));
}

async function list(origin: Origin, filter: RunFilter, deps: FlowDeps): Promise<Message> {
  const channels = await channelsToList(origin, filter, deps);
  if (!channels) return reasonMessage('list_all_not_approver');
  const found = await search(channels.slice(0, MAX_CHANNELS), { filter, readerId: origin.requesterId }, deps);
  const runs = await Promise.all(found.runs.map((run) => listed(run, origin, deps)));
  const hasMore = found.hasMore && (filter.page ?? 1) < MAX_PAGES;
  return listMessage({ ...found, hasMore, filter, runs, channelsLeftOut: Math.max(0, channels.length - MAX_CHANNELS) });
}

/** This channel first. Undefined: the person approves for no channel. */
async function channelsToList(
  origin: Origin,
  filter: RunFilter,
  deps: FlowDeps,
): Promise<readonly string[] | undefined> {
  const here = origin.channelId;
  if (!filter.all) return [here];
  const { channels } = deps.policies.current();
  if (filter.mine) return [...new Set([here, ...Object.keys(channels)])];
  const groupsOf = Object.entries(channels).map(([id, { rules }]) => ({
    id,
    groups: rules.flatMap(({ approval }) => approval?.from ?? []),
  }));
  const names = [...new Set(groupsOf.flatMap(({ groups }) => groups))];
  const isIn = await Promise.all(names.map((name) => isInGroup(name, origin.requesterId, deps)));
  const theirs = new Set(names.filter((_, index) => isIn[index] === true));
  const approved = groupsOf.filter(({ groups }) => groups.some((name) => theirs.has(name))).map(({ id }) => id);
  return approved.length === 0 ? undefined : [...new Set([here, ...approved])];
}

interface Wanted {
  readonly filter: RunFilter;
  readonly readerId: string;
}

interface Found {
  readonly runs: readonly Run[];
  readonly hasMore: boolean;
  readonly searched?: number;
}

/** Without a filter, reads only the page. With one, reads on until the page is full. */
async function search(channels: readonly string[], { filter, readerId }: Wanted, deps: FlowDeps): Promise<Found> {
  const { store } = deps;
  const before = ((filter.page ?? 1) - 1) * PAGE_RUNS;
  if (!filter.mine && filter.pod === undefined && filter.outcome === undefined) {
    const runs = await store.recent(channels, PAGE_RUNS + 1, before);
    return { runs: runs.slice(0, PAGE_RUNS), hasMore: runs.length > PAGE_RUNS };
  }
  // A run that starts meanwhile shifts the others, and no run may be listed twice.
  const matching = new Map<string, Run>();
  for (let skip = 0; skip < MAX_SEARCHED; skip += READ_AT_ONCE) {
    const runs = await store.recent(channels, READ_AT_ONCE, skip);
    for (const run of await matchingOf(runs, { filter, readerId }, deps)) matching.set(run.id, run);
    if (runs.length === 0 || matching.size > before + PAGE_RUNS) return pageOf(matching, before);
  }
  return { ...pageOf(matching, before), searched: MAX_SEARCHED };
}

async function matchingOf(runs: readonly Run[], { filter, readerId }: Wanted, deps: FlowDeps): Promise<readonly Run[]> {
  const seen = await Promise.all(runs.map((run) => seenBy(readerId, run, { filter, deps })));
  return runs.filter((run, index) => matchesFilter(seen[index] ?? run, filter, readerId));
}

/** Filters run on what this reader may see; otherwise a search would reveal a hidden verdict. */
async function seenBy(
  readerId: string,
  run: Run,
  { filter, deps }: { readonly filter: RunFilter; readonly deps: FlowDeps },
): Promise<Run> {
  if (filter.outcome !== 'problems' || !run.verdict || run.origin.requesterId === readerId) return run;
  const { verdict: _, ...others } = run;
  const isHidden = withDeadline(
    deps.clock,
    SLACK_MS,
    isForRequesterAlone(run, deps).catch(() => true),
    () => true,
  );
  return (await isHidden) ? others : run;
}

const pageOf = (matching: ReadonlyMap<string, Run>, before: number): Found => ({
  runs: [...matching.values()].slice(before, before + PAGE_RUNS),
  hasMore: matching.size > before + PAGE_RUNS,
});

async function listed(run: Run, { requesterId }: Origin, deps: FlowDeps): Promise<ListedRun> {
  const { anchor } = run.delivery;
  const isTheirs = run.origin.requesterId === requesterId;
  // A card elsewhere is in the requester's direct messages.
  const isReadable = isTheirs || anchor?.channelId === run.origin.channelId;
  const inTime = <Value>(request: Promise<Value>, otherwise: Value): Promise<Value> =>
    withDefault(deps.clock, SLACK_MS, request, () => otherwise);
  const [url, isHidden] = await Promise.all([
    anchor && isReadable ? inTime(deps.thread.permalink(anchor), undefined) : undefined,
    isTheirs ? false : inTime(isForRequesterAlone(run, deps), true),
  ]);
  return { run, isHidden, ...defined({ url }) };
}
