import { formatCount } from '../../../lib/duration.ts';
import { shorten, shortenMiddle } from '../../../lib/text.ts';
import { isTrouble, rankOfShown, type Verdict, type VerdictFinding } from '../../diagnosis/facts/verdict.ts';
import { LINE_LENGTH, VERDICT_LINE_LENGTH } from '../../line-lengths.ts';
import type { Run } from '../../run/run.ts';
import { line } from '../message/line.ts';
import { type Span, strong, type Tone } from '../message/message.ts';

/** A pod's name may have 253 characters; its ends identify it best. */
const MAX_NAME_LENGTH = 44;
/** For lines whose cause needs the room. */
const SHORT_NAME_LENGTH = 24;
export const shortName = (name: string): string => shortenMiddle(name, MAX_NAME_LENGTH);

export const oneLine = (words: string, length = LINE_LENGTH): string =>
  shorten(words.replace(/\s+/g, ' '), Math.max(1, length));

/** The first sentences that fit, as advice that is cut helps nobody: the thread has the others. Only a first one that is too long is cut. */
export function sentencesIn(words: string, length = LINE_LENGTH): string {
  const sentences = words.replace(/\s+/g, ' ').split(/(?<=[.;]) (?=\S)/);
  while (sentences.length > 1 && sentences.join(' ').length > length) sentences.pop();
  return oneLine(sentences.join(' ').replace(/;$/, '.'), length);
}

/** A container or image is known by its first digits. */
export const withoutIds = (words: string): string =>
  words.replace(/\b([0-9a-f]{12})[0-9a-f]{52}\b/g, (_whole, begin: string) => `${begin}…`);

/** kdebug's own words before the findings of a report (`verdictOf`); it counts only what is wrong. */
const COUNTED = /^(\d+) findings?: /;
const NOTHING_FOUND = /^no problems found$/i;
const OTHERS = /, and [\d,]+ more findings?$/;

/**
 * The verdict in one line: the worst finding and the number of others, where the report's own line lists them, else
 * that line without its full stop. Without a look at the pod's own log, nothing found is no good news. Undefined without
 * a report and without a first answer.
 */
export function headlineOf(verdict: Verdict | undefined): string | undefined {
  if (verdict?.line === undefined) return undefined;
  const { line: given, findings, fine } = verdict;
  const [worst] = findings;
  const line = withoutIds(oneLine(given, VERDICT_LINE_LENGTH)).replace(/\.$/, '');
  if (NOTHING_FOUND.test(line) && verdict.healthy !== true) return nothingFound(fine);
  if (!worst || !saysWorst(verdict)) return line.replace(/^1 finding: /, '');
  const others = othersOf(verdict, COUNTED.exec(line)?.[1]);
  return `${COUNTED.test(line) ? withoutIds(oneLine(worst.text, VERDICT_LINE_LENGTH)) : alone(line, worst)}${others === 0 ? '' : `, and ${formatCount(others, 'more finding')}`}`;
}

/** An image reported; else the verdict is what was known before it looked. */
export const hasReport = (verdict: Verdict | undefined): boolean =>
  verdict?.line !== undefined && (verdict.by !== undefined || verdict.readAtMs === undefined);

/**
 * The headline of a run that has ended. Where it looked and brought no report, and nothing is known to be wrong, how it
 * ended is the answer: undefined.
 */
export function endHeadlineOf({ verdict, outcome }: Pick<Run, 'verdict' | 'outcome'>): string | undefined {
  const isAnswer = outcome?.kind === 'answered' || hasReport(verdict) || verdict?.findings.some(isTrouble);
  return isAnswer ? headlineOf(verdict) : undefined;
}

/** The tone of a run that has ended, beside that of its outcome: of the verdict only where that is told. */
export function endToneOf(run: Pick<Run, 'verdict' | 'outcome'>, tone: Tone): Tone {
  const isUntold = run.verdict?.line !== undefined && endHeadlineOf(run) === undefined;
  return isUntold ? tone : toneOf(run.verdict, tone);
}

function nothingFound(fine: string | undefined): string {
  const checks = fine === undefined ? 0 : fine.split(', ').length;
  return checks === 0 ? 'Nothing found' : `Nothing found in ${formatCount(checks, 'check')}`;
}

/** The line with its worst finding alone and whole: some lines list several, and are cut. */
function alone(line: string, { text: found }: VerdictFinding): string {
  const at = line.indexOf(beginOf(found));
  if (at === -1) return line;
  const isList = !line.startsWith(found, at) || line.startsWith('; ', at + found.length);
  return isList ? `${line.slice(0, at)}${found}` : line;
}

/** Counts mere hints only if nothing is wrong. */
function othersOf({ findings, more = 0 }: Verdict, counted: string | undefined): number {
  if (counted !== undefined) return Number(counted) - 1;
  const wrong = findings.filter(isTrouble).length;
  return (wrong === 0 || wrong === findings.length ? findings.length + more : wrong) - 1;
}

/** The line may be cut. */
const beginOf = (found: string): string => found.slice(0, 60);

/** If the headline says the worst finding, nothing below repeats it. A rule's own sentence is the headline. */
export function saysWorst({ line = '', findings: [worst] }: Verdict): boolean {
  return worst !== undefined && ((worst.code !== undefined && isTrouble(worst)) || line.includes(beginOf(worst.text)));
}

/** The finding that the first two lines tell; one that is only worth knowing may stand below. */
export const leadingFinding = (verdict: Verdict): VerdictFinding | undefined =>
  verdict.findings.slice(0, 1).find((worst) => isTrouble(worst) || saysWorst(verdict));

/** Not in what others wrote. */
const OUTSIDE_QUOTES = '(?=[^“”]*(?:“|$))';
const ours = (source: string): RegExp => new RegExp(`${source}${OUTSIDE_QUOTES}`, 'g');

/**
 * The words that a card leaves out first, in this order, so that the cause is never cut for it; the thread has all of
 * it.
 */
const LESS_THAN_THE_CAUSE: readonly (readonly [RegExp, string])[] = [
  // `Ready; worth knowing: web logs 8 × “…”`
  [/^(?:Ready|[\d,]+ of [\d,]+ pods? ready)[^“”]{0,120}; (?=worth knowing: )/, ''],
  // `, 12 s ago` or `, last 3 min ago`
  [ours(', (?:last )?(?:under a second|\\d+(?:\\.\\d)? (?:s|min|h|d)(?: \\d+ (?:s|min|h))?) ago'), ''],
  [ours(', restarted [\\d,]+ times?'), ''],
  [ours('(?<=exited with code 134) \\(it aborted\\)'), ''],
  // The package and class of an exception.
  [/“(?:[A-Za-z_$][\w$]*\.)+[A-Z][\w$]*: (?=\S)/g, '“'],
  // `· 2 of 3 pods ready`, then `(1 of 3 pods)`
  [/ · (?:[\d,]+ of [\d,]+ (?:pods? ready|succeeded)[^“”]*|the Job failed|its newest pod finished well)$/, ''],
  [/ \((?:both|all [\d,]+|[\d,]+ of [\d,]+) pods?\)$/, ''],
  // Behind the cause: `: web exited with code 1: “…”`, `: web logs 8 × “…”`
  [/(?<=^[^“”]{1,200}): [^“”:]{1,100} exited with code (\d{1,3}): (?=“)/, ', exit code $1: '],
  [/(?<=^[^“”]{1,200}): [^“”:]{1,100} logs (?:[\d,]+ × )?(?=“)/, ', in its log: '],
];

/**
 * `*web-1*: memory at 95% of its limit`, in one line. What has no room goes in this order: the middle of a long name, the
 * number of other findings, more of the name, what says less than the cause, the end of the sentence.
 */
export function firstLineOf(name: string, headline: string): readonly Span[] {
  const plain = headline.replace(OTHERS, '');
  const shorter = shortenMiddle(name, SHORT_NAME_LENGTH);
  const ways: readonly (readonly [string, string])[] = [
    [shortName(name), headline],
    [shortName(name), plain],
    [shorter, plain],
  ];
  const [shown, words] = ways.find((way) => way[1].length <= roomBeside(way[0])) ?? [shorter, plain];
  return line`${strong(shown)}: ${causeWithin(roomBeside(shown), words)}`;
}

/** `app exited with code 1 · shop/web-1 · KubePodCrashLooping` in one line: on a lock screen the cause comes first. */
export function causeBefore(names: readonly string[], headline: string): string {
  const behind = names.map((name) => ` · ${shortenMiddle(name, SHORT_NAME_LENGTH)}`).join('');
  return `${causeWithin(LINE_LENGTH - behind.length, headline)}${behind}`;
}

function causeWithin(room: number, headline: string): string {
  let words = headline;
  for (const [pattern, instead] of [[OTHERS, ''] as const, ...LESS_THAN_THE_CAUSE])
    words = words.length <= room ? words : words.replace(pattern, instead);
  return cutEnd(words, room);
}

/** Beside the name, the mark and what parts them. */
const roomBeside = (name: string): number => LINE_LENGTH - 5 - name.length;

/** Less of a quotation says nothing. */
const MIN_QUOTED = 8;

/** A quotation that is cut still ends; one that would be cut at its beginning goes whole. */
function cutEnd(words: string, room: number): string {
  const cut = shorten(words, room);
  const open = cut.lastIndexOf('“');
  if (cut === words || open <= cut.lastIndexOf('”')) return cut;
  return open + MIN_QUOTED < room ? `${shorten(words, room - 1)}”` : `${words.slice(0, open).trimEnd()}…`;
}

/** As the thread shows it: whole. */
export const wholeHeadline = (headline: string): string => oneLine(headline, VERDICT_LINE_LENGTH);

/** From the worst to the best. */
const WORST_FIRST: readonly Tone[] = ['failure', 'attention', 'progress', 'ended'];

/**
 * The tone of a message with this verdict, beside how the run itself is or ended. A green tick says that the pod is well,
 * so it needs a verdict that says so, of a run that has ended.
 */
export function toneOf(verdict: Verdict | undefined, tone: Tone): Tone {
  const of = verdictTone(verdict);
  if (of === 'success') return tone === 'ended' ? 'success' : tone;
  return WORST_FIRST.find((one) => one === of || one === tone) ?? tone;
}

export function verdictTone(verdict: Verdict | undefined): Tone {
  const ranks = (verdict?.findings ?? []).map(rankOfShown);
  if (ranks.includes(1)) return 'failure';
  if (ranks.includes(2)) return 'attention';
  return verdict?.healthy === true ? 'success' : 'ended';
}

/**
 * The first of what was not checked, the pod's own log before all else. Empty where all was; a report alone never reads
 * that log.
 */
export function unseenWords({ healthy, unseen = [], readAtMs }: Verdict): string {
  if (healthy === true) return '';
  const plain = unseen.map(withoutLead);
  const first = plain.find((line) => /\blog\b/i.test(line)) ?? plain[0];
  return first ?? (readAtMs === undefined ? 'its own log' : '');
}

/** The words *Not checked* stand before the list. */
export const withoutLead = (line: string): string => line.replace(/^not checked:\s*/i, '');
