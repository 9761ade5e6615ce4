import { formatAge, formatDuration } from '../../../lib/duration.ts';
import type { Profile } from '../../container/profiles.ts';
import type { RunId } from '../../ids.ts';
import type { Run } from '../../run/run.ts';
import { COMMAND } from '../../shown-names.ts';
import {
  code,
  type Fact,
  type Field,
  type Form,
  link,
  type Message,
  type Part,
  paragraph,
  person,
  type Span,
  strong,
  text,
  time,
} from '../message/message.ts';
import { endHeadlineOf, endToneOf } from '../parts/headline.ts';
import { describeOutcome } from '../parts/outcome-text.ts';

/** The answer to `show`, with what only operators need: it is a page, so it may be long. */
export const detailsMessage = (run: Run, { parts, ...shown }: Message): Message => {
  const [heading, ...rest] = parts;
  return { ...shown, parts: [...(heading ? [heading] : []), { kind: 'facts', facts: detailsOf(run) }, ...rest] };
};

/** Identities, by which cluster, registry, log and audit file name the same run. */
function detailsOf(run: Run): readonly Fact[] {
  const { id, plan, planHash, decision, containerName, imageId, log } = run;
  return [
    fact('Run', id),
    ...(plan
      ? [fact('Pod uid', plan.podUid), fact('Node', plan.nodeName), fact('Container', containerName ?? 'not launched')]
      : []),
    ...factOf('Rule', decision?.rule),
    ...factOf('Image digest', imageId),
    ...factOf('Plan', planHash),
    ...factOf('Log SHA-256', log?.sha256),
    ...timesOf(run),
  ];
}

const fact = (label: string, value: string): Fact => ({ label, value: [code(value)] });
const factOf = (label: string, value: string | undefined): readonly Fact[] =>
  value === undefined || value === '' ? [] : [fact(label, value)];

function timesOf({ origin, launchedAtMs, startedAtMs, endedAtMs }: Run): readonly Fact[] {
  const since = (atMs: number | undefined): string | undefined =>
    atMs === undefined ? undefined : formatDuration(Math.max(0, atMs - origin.receivedAtMs));
  const later = [
    ['launched', since(launchedAtMs)],
    ['started', since(startedAtMs)],
    ['ended', since(endedAtMs)],
  ].flatMap(([word, after]) => (after === undefined ? [] : [`${word} after ${after}`]));
  const rest: readonly Span[] = later.length === 0 ? [] : [text(` · ${later.join(' · ')}`)];
  return [{ label: 'Requested', value: [time(origin.receivedAtMs), ...rest] }];
}

/** The command of a run, alone in a code block, so that Slack's own copying gets nothing else. */
export function copyCommandMessage({ commandLine }: Run, hasSecret: boolean): Message {
  const summary = 'The command of this run';
  return {
    summary,
    tone: 'neutral',
    parts: [
      paragraph([strong(summary)]),
      { kind: 'preformatted', text: `${COMMAND} ${commandLine}` },
      ...(hasSecret ? [note('kdebug shows no secrets: fill it in again before you send the command.')] : []),
    ],
  };
}

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
  const where: readonly Span[] = url === undefined ? [] : [text(' '), link(url, 'See the result'), text('.')];
  return {
    summary: `The same run finished ${age}: ${headline}`,
    tone: endToneOf(run, outcome.tone),
    parts: [
      paragraph([strong(headline)]),
      paragraph([
        text('The same run for '),
        person(origin.requesterId),
        text(` finished ${age}, so nothing was started.`),
        ...where,
      ]),
      { kind: 'actions', buttons: [{ action: 'run-anyway', label: 'Run anyway', value: requestId }] },
      note(`Run ${run.id}`),
    ],
  };
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

const note = (words: string): Part => ({ kind: 'note', spans: [text(words)] });
