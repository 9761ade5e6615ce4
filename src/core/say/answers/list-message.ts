import { shorten } from '../../../lib/text.ts';
import { countPods, statusOf } from '../../batch/pod-state.ts';
import { printCommand } from '../../command/print.ts';
import type { RunFilter } from '../../request/command.ts';
import { isBatchRun } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import { COMMAND } from '../../shown-names.ts';
import { STATUS_TEXT } from '../batch/batch-facts.ts';
import { endTone } from '../batch/batch-headline.ts';
import { dotted, line, list, message, note, paragraph } from '../message/line.ts';
import {
  channel,
  code,
  EMOJI_OF,
  emoji,
  link,
  type Message,
  person,
  type Span,
  strong,
  type Tone,
  time,
} from '../message/message.ts';
import { endHeadlineOf, endToneOf } from '../parts/headline.ts';
import { armedUntil, describeOutcome, STATE_TEXT, stateWords } from '../parts/outcome-text.ts';
import { nameOf } from '../parts/run-lines.ts';
import { batchWords } from './run-for-one.ts';

/** A run as one reader may see it. */
export interface ListedRun {
  readonly run: Run;
  /** To its card; absent if Slack gives none in time. */
  readonly url?: string;
  /** Its output is not for this reader, so neither is its verdict. */
  readonly isHidden: boolean;
}

/** One page of `list`. */
export interface RunPage {
  readonly filter: RunFilter;
  readonly runs: readonly ListedRun[];
  readonly hasMore: boolean;
  /** The number of newest runs that were searched, if not all were. */
  readonly searched?: number;
  /** The number of channels that were left out, because a list reads only so many. */
  readonly channelsLeftOut: number;
}

const MAX_COMMAND_LENGTH = 60;

export const listMessage = (page: RunPage): Message =>
  message({ tone: 'neutral' }, [
    paragraph`${strong(listTitle(page))}`,
    list(page.runs.map((listed) => lineOf(listed, page.filter.all === true))),
    note`${notes(page)}`,
  ]);

/** `Last 3 of your runs in this channel, outcome failed, pod web`. */
function listTitle({ filter, runs }: RunPage): string {
  const { mine, page = 1 } = filter;
  const noun = mine ? 'of your runs' : 'runs';
  const rest = `${whereOf(filter)}${filterWords(filter)}`;
  if (page > 1) return `Page ${page}: ${runs.length === 0 ? 'no more' : runs.length} ${noun} ${rest}`;
  if (runs.length === 0)
    return `${mine ? 'None of your runs' : 'No runs'} ${rest}${filterWords(filter) ? '' : ' yet'}.`;
  if (runs.length === 1) return `Latest ${mine ? noun : 'run'} ${rest}`;
  return `Last ${runs.length} ${noun} ${rest}`;
}

function whereOf({ all, mine }: RunFilter): string {
  if (!all) return 'in this channel';
  return mine ? 'in every channel' : 'in the channels that you approve for';
}

const filterWords = ({ outcome, pod }: RunFilter): string =>
  [outcome === undefined ? '' : `, outcome ${outcome}`, pod === undefined ? '' : `, pod ${pod}`].join('');

/** The answer first: `⚠️ shop/web-1: memory at 95% of its limit · autodiagnose · @roy · 10:42 · id`. */
function lineOf({ run, url, isHidden }: ListedRun, namesChannel: boolean): readonly Span[] {
  const { tone, words } = resultOf(run, isHidden);
  const mark = EMOJI_OF[tone];
  const what = listedName(run);
  const shown = url === undefined ? strong(what) : link(url, what);
  return dotted([
    line`${mark && line`${emoji(mark)} `}${shown}: ${words}${armedUntil(run)}`,
    imageWords(run),
    person(run.origin.requesterId),
    namesChannel && channel(run.origin.channelId),
    time(run.origin.receivedAtMs),
    code(run.id),
  ]);
}

/** The pod; of a batch, or before a plan, the command; of an alert that asked for nothing, its subject. */
function listedName(run: Run): string {
  const { plan, commandLine } = run;
  if (plan && !isBatchRun(run)) return `${plan.namespace}/${nameOf(run)}`;
  if (commandLine === '') return nameOf(run);
  return shorten(`${COMMAND} ${commandLine}`, MAX_COMMAND_LENGTH);
}

/** An answer without a container names no image. */
function imageWords(run: Run): string | undefined {
  if (!run.plan || isBatchRun(run)) return undefined;
  return run.outcome?.kind === 'answered' ? 'answered' : run.plan.imageAlias;
}

/** The result of a run in a few words: its verdict, else its outcome, else its state. */
function resultOf(run: Run, isHidden: boolean): { readonly tone: Tone; readonly words: string } {
  if (isBatchRun(run)) return batchResult(run);
  const { state, outcome } = run;
  if (state !== 'finished' || !outcome) return { tone: STATE_TEXT[state].tone, words: stateWords(run) };
  const verdict = isHidden ? undefined : run.verdict;
  const seen = { outcome, ...(verdict ? { verdict } : {}) };
  const { tone, title } = describeOutcome(outcome);
  return {
    tone: endToneOf(seen, tone),
    words: endHeadlineOf(seen) ?? (isHidden && outcome.kind === 'answered' ? 'Finished' : title),
  };
}

function batchResult(run: Parameters<typeof batchWords>[0]): { readonly tone: Tone; readonly words: string } {
  const { state, batch } = run;
  if (state !== 'approved' && state !== 'running' && state !== 'finished')
    return { tone: STATE_TEXT[state].tone, words: STATE_TEXT[state].headline };
  const counts = countPods(batch);
  const { tone } = STATUS_TEXT[statusOf(batch, counts)];
  return { tone: batch.endedAtMs === undefined ? tone : endTone(batch, counts), words: batchWords(run) };
}

function notes({ filter, runs, hasMore, searched, channelsLeftOut }: RunPage): readonly Span[] {
  const next = printCommand({ kind: 'list', ...filter, page: (filter.page ?? 1) + 1 });
  return dotted([
    hasMore && line`More: ${code(`${COMMAND} ${next}`)}`,
    searched !== undefined && `Only the newest ${searched} runs were searched`,
    channelsLeftOut > 0 && `${channelsLeftOut} more channels were not searched`,
    runs.length === 0
      ? line`${code(`${COMMAND} help list`)} explains the filters`
      : line`${code(`${COMMAND} show ID`)} shows the details of a run`,
  ]);
}
