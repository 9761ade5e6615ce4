import { tagOf } from '../../../play/app/our-posts.ts';
import type { LocalCluster } from '../../../play/cluster/index.ts';
import type { LocalSlack, StoredMessage } from '../../../play/slack/index.ts';
import { Tally } from './check.ts';

/** A command that somebody typed, with a word in it that no other has. */
export interface Asked {
  readonly marker: string;
  /** What rode on the acknowledgement; undefined when Slack got none in time, and told the person so itself. */
  readonly answer: string | undefined;
  /** Whether a file must be there when it was carried out. */
  readonly isLong: boolean;
}

/** What Slack and the cluster hold of one run. */
export interface Told {
  readonly anchors: StoredMessage[];
  readonly results: StoredMessage[];
  readonly files: string[];
  containers: number;
}

/** The mark of an anchor that more is to follow. */
const GOES_ON = /^⏳/;
/** Of a card, and of the reply in its thread. */
const ENDED_BY_PEOPLE = /rejected|expired|withdrawn|withdrew/i;
/** A card that waits for people: as good as told, while they may still come. */
const WAITS = /Approval needed/;

type Pod = ReturnType<LocalCluster['pods']>[number];

/** By run: every message, file and container that bears its id. */
export function historyOf(slack: LocalSlack, pods: readonly Pod[]): ReadonlyMap<string, Told> {
  const runs = new Map<string, Told>();
  const of = (run: string): Told => {
    const told = runs.get(run) ?? { anchors: [], results: [], files: [], containers: 0 };
    runs.set(run, told);
    return told;
  };
  for (const channel of Object.keys(slack.team.channels))
    for (const message of slack.state.channelMessages(channel).values()) {
      const { run, kind } = tagOf(slack.state, message) ?? {};
      if (run !== undefined && kind === 'anchor') of(run).anchors.push(message);
      if (run !== undefined && kind === 'result') of(run).results.push(message);
    }
  for (const { name } of slack.files()) {
    const [, run] = /^kdebug-([a-z0-9]+)(?:-late)?\.log$/.exec(name) ?? [];
    if (run !== undefined) of(run).files.push(name);
  }
  for (const pod of pods)
    for (const { env = [] } of pod.spec.ephemeralContainers ?? []) {
      const run = env.find(({ name }) => name === 'KDEBUG_RUN')?.value;
      if (run !== undefined) of(run).containers += 1;
    }
  return runs;
}

const wordsOf = (message: StoredMessage | undefined): string => JSON.stringify([message?.text, message?.blocks]);

/** Whether nothing more is to come for a run by itself. */
export function isTold({ anchors, results, files }: Told, isLong: boolean): boolean {
  const [anchor] = anchors;
  if (!anchor) return false;
  if (WAITS.test(anchor.text)) return true;
  return !GOES_ON.test(anchor.text) && results.length > 0 && (!isLong || files.length > 0 || saysNoFile(results[0]));
}

const saysNoFile = (result: StoredMessage | undefined): boolean =>
  result !== undefined &&
  (ENDED_BY_PEOPLE.test(result.text) || /could not be shared|did not start/.test(wordsOf(result)));

/** What a run's history lacks or has too much of. */
function judgeRun(run: string, told: Told, isLong: boolean): Tally {
  const tally = new Tally();
  const { anchors, results, files, containers } = told;
  const count = (what: string, found: number, most = 1): void => {
    for (let n = found; n > most; n -= 1) tally.double(`${what} of ${run}`);
  };
  count('anchor', anchors.length);
  count('result', results.length);
  count('file', files.length);
  count('container', containers);
  if (containers > 0 && anchors.length === 0) tally.lose(`the anchor of ${run}, which was launched`);
  if (!isTold(told, isLong))
    tally.lose(`the last word on ${run}: ${anchors[0]?.text}, ${results.length} results, ${files.length} files`);
  const [anchor] = anchors;
  const [result] = results;
  if (anchor && result && result.threadTs !== anchor.ts) tally.wrong(`the result of ${run} is not in its thread`);
  if (anchor && ENDED_BY_PEOPLE.test(anchor.text) && containers > 0) tally.wrong(`${run} was launched without leave`);
  if (anchor && WAITS.test(anchor.text) && containers > 0) tally.wrong(`${run} was launched while it waited`);
  return tally;
}

/**
 * Judges many commands by what the local Slack and the local cluster recorded: each that was accepted has one run with its last
 * word; one that was refused, in the acknowledgement or in private, has none; of one that Slack got no answer for there may be
 * either, but never a half.
 */
export function judgeHistory(commands: readonly Asked[], slack: LocalSlack, pods: readonly Pod[]): Tally {
  const tally = new Tally();
  const runs = historyOf(slack, pods);
  const byMarker = new Map<string, string[]>();
  for (const [run, told] of runs) {
    const marker = markerOf(run, told, slack);
    byMarker.set(marker, [...(byMarker.get(marker) ?? []), run]);
  }
  for (const { marker, answer, isLong } of commands) {
    const mine = byMarker.get(marker) ?? [];
    byMarker.delete(marker);
    for (const run of mine.slice(1)) tally.double(`run ${run} for ${marker}`);
    for (const run of mine) tally.add(judgeRun(run, runs.get(run) ?? NOTHING, isLong));
    if (answer === '' && mine.length === 0 && !wasRefused(slack, marker)) tally.lose(`${marker}, which was accepted`);
    if (answer !== undefined && answer !== '' && mine.length > 0) tally.wrong(`${marker} was refused, and carried out`);
  }
  for (const [marker, left] of byMarker)
    for (const run of left)
      tally.wrong(`${run} (${marker}) was asked for by nobody: ${wordsOf(runs.get(run)?.anchors[0])}`);
  if (slack.unknown.length > 0) tally.wrong(`unknown to Slack: ${slack.unknown.join()}`);
  return tally;
}

/** Of the command that asked for a run; '' where no message ever had it. */
export const markerOf = (run: string, { anchors }: Told, slack: LocalSlack): string =>
  markerIn(wordsOf(anchors[0])) ?? firstMarkerOf(run, slack) ?? '';

const markerIn = (words: string): string | undefined => /\bmark-\w+/.exec(words)?.[0];

/** A card that was rebuilt from the cluster has lost the reason that was typed; it had it when it was posted. */
function firstMarkerOf(run: string, slack: LocalSlack): string | undefined {
  const posts = slack.requests().map(({ args }) => JSON.stringify(args));
  return posts.flatMap((words) => (words.includes(run) ? (markerIn(words) ?? []) : [])).at(0);
}

const NOTHING: Told = { anchors: [], results: [], files: [], containers: 0 };

/** Told privately, with the command's own words. */
export const wasRefused = (slack: LocalSlack, marker: string): boolean =>
  slack.state.ephemerals.some((message) => wordsOf(message).includes(marker));
