import { formatAge, formatDuration } from '../../../lib/duration.ts';
import type { Profile } from '../../container/profiles.ts';
import type { RunId } from '../../ids.ts';
import type { Run } from '../../run/run.ts';
import { COMMAND } from '../../shown-names.ts';
import { actions, dotted, fact, facts, line, message, note, paragraph, preformatted, rows } from '../message/line.ts';
import {
  code,
  type Fact,
  type Field,
  type Form,
  link,
  type Message,
  person,
  strong,
  time,
} from '../message/message.ts';
import { endHeadlineOf, endToneOf, shortName } from '../parts/headline.ts';
import { describeOutcome } from '../parts/outcome-text.ts';
import { nameOf } from '../parts/run-lines.ts';

/** The answer to `show`, with what only operators need: it is a page, so it may be long. */
export const detailsMessage = (run: Run, { parts, ...shown }: Message): Message =>
  message(shown, [parts[0], facts(detailsOf(run)), parts.slice(1)]);

/** Identities, by which cluster, registry, log and audit file name the same run. */
function detailsOf(run: Run): readonly Fact[] {
  const { id, plan, planHash, decision, containerName, imageId, log } = run;
  return rows(
    exact('Run', id),
    plan && [
      fact('Pod uid', code(plan.podUid)),
      fact('Node', code(plan.nodeName)),
      fact('Container', code(containerName ?? 'not launched')),
    ],
    exact('Rule', decision?.rule),
    exact('Image digest', imageId),
    exact('Plan', planHash),
    exact('Log SHA-256', log?.sha256),
    timesOf(run),
  );
}

const exact = (label: string, value = ''): Fact | false => value !== '' && fact(label, code(value));

function timesOf({ origin, launchedAtMs, startedAtMs, endedAtMs }: Run): Fact {
  const after = (what: string, atMs: number | undefined): string | false =>
    atMs !== undefined && `${what} after ${formatDuration(Math.max(0, atMs - origin.receivedAtMs))}`;
  const later = [after('launched', launchedAtMs), after('started', startedAtMs), after('ended', endedAtMs)];
  return fact('Requested', dotted([time(origin.receivedAtMs), ...later]));
}

/** The command of a run, alone in a code block, so that Slack's own copying gets nothing else. */
export const copyCommandMessage = ({ commandLine }: Run, hasSecret: boolean): Message =>
  message({ tone: 'neutral' }, [
    paragraph`${strong('The command of this run')}`,
    preformatted(`${COMMAND} ${commandLine}`),
    hasSecret && note`kdebug shows no secrets: fill it in again before you send the command.`,
  ]);

interface SameAgain {
  /** The refused request, which *Run anyway* repeats. */
  readonly requestId: RunId;
  readonly nowMs: number;
  /** Leads to the result in Slack. */
  readonly url?: string;
}

/** Offers the result of an equal run instead of a second one. */
export function sameAgainMessage(run: Run, { requestId, nowMs, url }: SameAgain): Message {
  const { origin, finishedAtMs = nowMs } = run;
  const outcome = describeOutcome(run.outcome ?? { kind: 'internal', code: 'outcome_missing' });
  const headline = endHeadlineOf(run) ?? outcome.title;
  const age = `${formatAge(Math.max(0, nowMs - finishedAtMs))} ago`;
  const where = url === undefined ? [] : line` ${link(url, 'See the result')}.`;
  const name = shortName(nameOf(run));
  return message(
    { summary: `${name}: the same run finished ${age}: ${headline}`, tone: endToneOf(run, outcome.tone) },
    [
      paragraph`${strong(name)}: ${headline}`,
      paragraph`The same run for ${person(origin.requesterId)} finished ${age}, so nothing was started.${where}`,
      actions({ action: 'run-anyway', label: 'Run anyway', value: requestId }),
      note`Run ${run.id}`,
    ],
  );
}

/** A profile that the policy would let through here, on its own or with an approval. */
export interface PossibleProfile {
  readonly profile: Profile;
  readonly needsApproval: boolean;
}

/**
 * Asks for what a repeated request lacks. `value` names the button and the run. The reason starts empty, because it must be the clicker's
 * own; `profiles`, the strongest first, are a choice if there are any.
 */
export function againForm(
  action: string,
  { id, commandLine }: Pick<Run, 'id' | 'commandLine'>,
  profiles: readonly PossibleProfile[] = [],
): Form {
  const [strongest] = profiles;
  const choice: readonly Field[] = strongest
    ? [
        {
          id: 'profile',
          label: 'Profile',
          kind: 'choice',
          optional: false,
          hint: 'What the container may do: the strongest that this channel may ask for is chosen.',
          options: profiles.map(({ profile, needsApproval }) => ({
            value: profile,
            label: needsApproval ? `${profile} (needs an approval)` : profile,
          })),
          initial: strongest.profile,
        },
      ]
    : [];
  return {
    name: 'again-reason',
    value: `${action}:${id}`,
    title: 'Ask again',
    submit: 'Ask',
    intro: `Like run ${id}: ${COMMAND} ${commandLine.split('\n', 1)[0]}`,
    fields: [
      ...choice,
      {
        id: 'reason',
        label: 'Your reason',
        kind: 'lines',
        optional: strongest !== undefined,
        maxLength: 500,
        hint: 'It is shown on the card and goes into the audit log.',
      },
    ],
  };
}
