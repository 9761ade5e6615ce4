import { readNamed } from '../../core/command/line/target.ts';
import { isDnsLabel } from '../../core/container/names.ts';
import type { ContainerStatus, Pod } from '../../core/container/pod.ts';
import { toKdebugError } from '../../core/errors.ts';
import { asChannelId, asUserId } from '../../core/ids.ts';
import { identityFor, isRefusedUnmapped, subjectFor } from '../../core/planning/identity.ts';
import {
  channelOffer,
  matchesNamespace,
  type ResolvedNamespace,
  resolveNamespace,
} from '../../core/planning/resolve.ts';
import type { Option } from '../../core/say/message/message.ts';
import { stateOfValue } from '../../core/say/request-form.ts';
import { withDeadline } from '../../lib/clock.ts';
import { formatCount } from '../../lib/duration.ts';
import { defined } from '../../lib/object.ts';
import type { LookupLimiter } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { channelProblem } from '../planning/channel-check.ts';
import { type Actor, ANSWER_WITHIN_MS, type SearchQuery } from '../ports/slack.ts';

/** Slack shows a hundred: with more, its adapter leaves some out and says so. */
const MAX_FOUND = 101;
/** Of what was typed; further ones would only cost time. */
const MAX_WORDS = 10;
/**
 * The options of a search field for a typed text: the names that match all its words, and the text itself if it could
 * be meant, because a pod may be too new to be listed, and nobody lists workloads. Beyond `searches`, the typed words
 * alone. Never rejects.
 */
export async function searchOptions(query: SearchQuery, { deps, searches }: SearchContext): Promise<readonly Option[]> {
  if (query.field === 'namespace') return namespaces(query, deps);
  return pods(query, deps, searches.refusal(query.userId, 'can-i') !== undefined);
}

interface SearchContext {
  readonly deps: FlowDeps;
  /** Bounds one person's searches for pods, each of which may ask the cluster for their rights. */
  readonly searches: LookupLimiter;
}

function namespaces({ channelId, value, typed }: SearchQuery, { policies }: FlowDeps): readonly Option[] {
  const { cluster } = stateOfValue(value);
  const { namespaces: patterns } = channelOffer(
    policies.current(),
    channelId,
    cluster === undefined ? {} : { cluster },
  );
  const names = patterns.filter((pattern) => !pattern.endsWith('*'));
  const word = typed.trim();
  const isMeant = isDnsLabel(word) && patterns.some((pattern) => matchesNamespace(pattern, word));
  const found = names.filter(matcherOf(word)).map((name): Option => ({ value: name, label: name }));
  return withTyped(found, isMeant ? word : undefined);
}

async function pods(
  { value, typed, ...actor }: SearchQuery,
  deps: FlowDeps,
  isLimited: boolean,
): Promise<readonly Option[]> {
  const word = typed.trim();
  const isMeant = readNamed({ text: word, start: 0, end: word.length, quoted: false }, () => undefined) !== undefined;
  const found = resolveNamespace(stateOfValue(value), actor.channelId, deps.policies.current());
  if (found.kind === 'deny') return [];
  const search = async (): Promise<readonly Pod[]> =>
    !isLimited && (await isVisible(actor, found, deps)) ? podsOf(found, deps) : [];
  const all = await withDeadline(
    deps.clock,
    ANSWER_WITHIN_MS,
    search().catch((thrown: unknown) => {
      deps.log.debug('pods not searched', { reason: toKdebugError(thrown).code });
      return [];
    }),
    () => [],
  );
  return withTyped(matching(all, word), isMeant ? word : undefined);
}

const withTyped = (found: readonly Option[], typed: string | undefined): readonly Option[] =>
  typed === undefined || found.some(({ value }) => value === typed)
    ? found.slice(0, MAX_FOUND)
    : [...found.slice(0, MAX_FOUND), { value: typed, label: `Use “${typed}”` }];

/** Accepts a name that has every word of the typed text. */
function matcherOf(typed: string): (name: string) => boolean {
  // Each is looked for in every name, with every character that somebody types.
  const words = [...new Set(typed.toLowerCase().split(/\s+/))].slice(0, MAX_WORDS);
  return (name) => words.every((word) => name.includes(word));
}

/** The pods that match: those whose name begins so first, then those in trouble, then by name. */
function matching(all: readonly Pod[], typed: string): readonly Option[] {
  const matches = matcherOf(typed);
  const first = typed.toLowerCase().split(/\s+/)[0] ?? '';
  return all
    .filter(({ metadata }) => matches(metadata.name))
    .map((pod) => ({
      name: pod.metadata.name,
      isMiddle: !pod.metadata.name.startsWith(first),
      trouble: troubleOf(pod),
    }))
    .sort(
      (a, b) =>
        Number(a.isMiddle) - Number(b.isMiddle) ||
        Number(b.trouble !== undefined) - Number(a.trouble !== undefined) ||
        (a.name < b.name ? -1 : 1),
    )
    .slice(0, MAX_FOUND)
    .map(({ name, trouble }) => ({ value: name, label: labelOf(name), ...defined({ description: trouble }) }));
}

/** Slack shows 75 characters; the end of a pod's name tells it from its siblings. */
const labelOf = (name: string): string => (name.length <= 75 ? name : `${name.slice(0, 37)}…${name.slice(-37)}`);

/** The trouble of a pod at first sight, in a few words. */
function troubleOf({ status, metadata }: Pod): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'Ending';
  if (status.phase !== 'Running') return status.phase;
  const { containerStatuses } = status;
  const reason = containerStatuses.map(({ waiting }) => waiting?.reason).find(Boolean);
  if (reason) return reason;
  if (containerStatuses.some(({ ready }) => ready === false)) return withRestarts('Not ready', containerStatuses);
  return containerStatuses.some(({ restartCount }) => restartCount > 0)
    ? withRestarts('Running', containerStatuses)
    : undefined;
}

function withRestarts(words: string, statuses: readonly ContainerStatus[]): string {
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  return restarts === 0 ? words : `${words}, ${formatCount(restarts, 'restart')}`;
}

type Where = Pick<ResolvedNamespace, 'cluster' | 'namespace'>;

/**
 * Decides if this person may see the names of a namespace's pods: not in a channel that another company reads, and only
 * if the cluster lets them debug any pod of it, provided that kdebug knows who they are there. Records nothing, because
 * every typed character asks this and nothing is launched. @throws when it cannot know
 */
export async function isVisible(actor: Actor, { cluster, namespace }: Where, deps: FlowDeps): Promise<boolean> {
  const { identity } = deps.policies.current();
  const requesterId = asUserId(actor.userId);
  const channelId = asChannelId(actor.channelId);
  if (await channelProblem({ channelId, requesterId }, deps, { posts: false })) return false;
  if (isRefusedUnmapped(identity, requesterId)) return false;
  const actingAs = identityFor(identity, { teamId: actor.teamId, channelId, requesterId });
  const subject = subjectFor(identity, requesterId);
  if (!actingAs && !subject) return true;
  const access = await deps.clusters.get(cluster).access({ namespace, ...defined({ actingAs, subject }) });
  return access.kind === 'allowed';
}

/** All pods of a namespace, from its shared watch. */
export const podsOf = ({ cluster, namespace }: Where, { clusters }: FlowDeps): Promise<readonly Pod[]> =>
  clusters.get(cluster).pods(namespace, []);
