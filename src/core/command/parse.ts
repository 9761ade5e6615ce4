import { defined } from '../../lib/object.ts';
import { nearest } from '../../lib/text.ts';
import { isRunId } from '../ids.ts';
import type { Command, ParsedCommand } from '../request/command.ts';
import { COMMAND } from '../shown-names.ts';
import { isHelp, type Line, notesOn, type Problem, type Report, readLine, shown, wholeOf } from './line/line.ts';
import { readLogFilter, readRunFilter, reportLookupFlags } from './line/lookup.ts';
import { type NamedReading, noMore, readCompare, readDescribe, readOnceMore } from './line/pod-verbs.ts';
import { readNamespaceFlags, readRequest, readScale } from './line/request.ts';
import { typed } from './line/target.ts';
import { tokenize, type Word } from './line/tokenize.ts';
import { readRunId } from './line/values.ts';
import { findTopic, type KnownVerb, TOPICS, type VerbName, verbNamed, verbNear } from './line/verbs.ts';
import { readWatch } from './line/watch.ts';
import { MAX_LINE_LENGTH, readPasted, unmarkWords } from './pasted.ts';

/**
 * Parses what a person typed after `/kdebug`, as Slack delivers it: `readPasted`, `tokenize`, then `unmarkWords`. Never
 * throws; linear in the length of the text. Every name, image, selector, duration and id in the result is valid by its
 * grammar, so it is safe in a URL or an object. Refuses a line over 16,000 characters unread. An error points at the
 * leftmost wrong word; a wrong flag comes first.
 */
export function parseCommand(text: string): ParsedCommand {
  const { line, yaml, isTooLong } = readPasted(text);
  return isTooLong ? { kind: 'error', error: { ...tooLong(line), text: line } } : parseLine(line, yaml);
}

const tooLong = (line: string): Problem => ({
  code: 'command_too_long',
  message: `The command has ${line.length} characters.`,
  hint: `Write at most ${MAX_LINE_LENGTH}; put a longer script into an image.`,
  start: MAX_LINE_LENGTH,
  end: line.length,
});

function parseLine(text: string, yaml: string): ParsedCommand {
  const failed = (problem: Problem): ParsedCommand => ({ kind: 'error', error: { ...problem, text } });
  const split = tokenize(text);
  if (split.kind === 'open-quote') return failed(openQuote(text, split.start));
  if (split.words.length === 0) return { kind: 'ok', command: { kind: 'form' } };
  const problems: Problem[] = [];
  const report: Report = (problem) => {
    problems.push(problem);
    return undefined;
  };
  const words = unmarkWords(split.words, text);
  const command = readWords(words, { end: text.trimEnd().length, yaml, report });
  const [first] = problems.sort((a, b) => a.start - b.start);
  if (first) return failed(withVerb(first, words));
  if (!command) throw new TypeError('readWords returned neither a command nor a problem');
  const notes = notesOn(words);
  return { kind: 'ok', command, ...defined({ notes: notes.length > 0 ? notes : undefined }) };
}

/** A first word that resembles a verb was probably meant as one, whatever else is wrong. */
function withVerb(problem: Problem, words: readonly Word[]): Problem {
  const [first] = words;
  const isTalk = first && !verbNamed(first.text) && !words.some(({ text }) => text.startsWith('-'));
  const guess = isTalk ? verbNear(first.text) : undefined;
  if (guess === undefined || problem.code === 'verb_unknown') return problem;
  const otherwise = problem.hint?.replace(/^Did you mean (\S+)\?$/, 'A pod is named like $1.') ?? '';
  return { ...problem, hint: `Did you mean ${guess.name}? ${otherwise}`.trimEnd() };
}

const openQuote = (text: string, start: number): Problem => ({
  code: 'quote_open',
  message: `The quote ${text.charAt(start)} is not closed.`,
  hint: 'Close it, or put a backslash before it if it is part of the text.',
  start,
  end: start + 1,
});

interface Reading {
  readonly end: number;
  readonly yaml: string;
  readonly report: Report;
}

function readWords(words: readonly Word[], reading: Reading): Command | undefined {
  if (isHelpVerb(words[0])) return readHelp(words, reading.report);
  const line = notKubectl(words) ?? readLine(words, reading.end);
  return 'code' in line ? reading.report(line) : readSentence(line, reading);
}

function readSentence(line: Line, reading: Reading): Command | undefined {
  const [first, ...rest] = line.words;
  const verb = first && verbNamed(first.text);
  if (line.help || isHelpVerb(first))
    return { kind: 'help', ...defined({ topic: isHelpVerb(first) ? undefined : verb?.name }) };
  if (verb) return readVerb(verb, { ...reading, line, words: rest });
  const misspelt = first && rest[0] && misspeltVerb(first, rest[0]);
  if (misspelt) return reading.report(misspelt);
  reportLookupFlags(line, reading.report);
  const request = readRequest(line, line.words, reading.report);
  return request && { kind: 'run', request };
}

function notKubectl([kubectl, next]: readonly Word[]): Problem | undefined {
  if (!next || next.text.startsWith('-') || kubectl?.text.toLowerCase() !== 'kubectl') return undefined;
  return {
    code: 'verb_unknown',
    message: 'kdebug only debugs pods; it does nothing else to a cluster.',
    hint: 'Type the pod, and flags if you need any: POD --image=IMAGE -- COMMAND',
    start: kubectl.start,
    end: next.end,
  };
}

const isHelpVerb = (word: Word | undefined): boolean => word !== undefined && verbNamed(word.text)?.name === 'help';

function readHelp(words: readonly Word[], report: Report): Command | undefined {
  const [, topic, extra] = words;
  if (!topic || isHelp(topic)) return { kind: 'help' };
  const found = findTopic(topic.text);
  if (found !== undefined && !extra) return { kind: 'help', topic: found };
  const range = extra && found !== undefined ? extra : topic;
  const guess = nearest(range.text, TOPICS);
  const hint = guess && found === undefined ? `Did you mean ${guess}?` : `Type ${COMMAND} help for all topics.`;
  const message = `There is no help on ${shown(range.text)}.`;
  return report({ code: 'topic_unknown', message, hint, start: range.start, end: range.end });
}

/** A first word that resembles a verb, before a second word that this verb takes, was meant as that verb. */
function misspeltVerb(word: Word, next: Word): Problem | undefined {
  const guess = verbNear(word.text);
  if (guess === undefined || (guess.usage.includes(' ID') && !isRunId(next.text))) return undefined;
  const message = `There is no verb ${shown(word.text)}.`;
  return { code: 'verb_unknown', message, hint: `Did you mean ${guess.name}?`, start: word.start, end: word.end };
}

type VerbReading = Reading & NamedReading;

/** Verbs that start one run of their own kind: `can-i` answers for them, too. */
const PLANNED_VERBS: ReadonlySet<VerbName> = new Set(['once-more', 'watch']);

/** `can-i once-more POD`; alone, such a word is a pod's name. */
function readVerb(verb: KnownVerb, reading: VerbReading): Command | undefined {
  const [first, ...rest] = reading.words;
  const planned = verb.name === 'can-i' && rest.length > 0 ? verbNamed(first?.text ?? '') : undefined;
  if (!planned || !PLANNED_VERBS.has(planned.name)) return readOneVerb(verb, reading);
  const command = readOneVerb(planned, { ...reading, words: rest });
  return command?.kind === 'run' ? { kind: 'can-i', request: command.request } : undefined;
}

function readOneVerb(verb: KnownVerb, reading: VerbReading): Command | undefined {
  const misplaced = misplacedProblem(verb, reading.line);
  if (misplaced) reading.report(misplaced);
  switch (verb.name) {
    case 'list':
      return noMore(reading, 0) ? { kind: 'list', ...readRunFilter(reading.line, reading.report) } : undefined;
    case 'images':
    case 'whoami':
      return noMore(reading, 0) ? { kind: verb.name } : undefined;
    case 'logs': {
      const named = readById('logs', reading);
      return named && { ...named, ...readLogFilter(reading.line, reading.report) };
    }
    case 'show':
    case 'stop':
    case 'rerun':
    case 'export':
      return readById(verb.name, reading);
    case 'describe':
      return readDescribe(reading);
    case 'compare':
      return readCompare(reading);
    case 'once-more':
      return readOnceMore(reading);
    case 'watch':
      return readWatch(reading);
    case 'can-i': {
      const request = readRequest(reading.line, reading.words, reading.report);
      return request && { kind: 'can-i', request };
    }
    case 'batch':
      return readBatch(reading);
    case 'apply':
      return readApply(reading);
    case 'help':
      return { kind: 'help' };
  }
}

function misplacedProblem(verb: KnownVerb, { flags, separator }: Line): Problem | undefined {
  for (const [name, [given]] of flags) {
    if (!given || verb.flags.includes(name)) continue;
    const message = `--${name} has no meaning with ${verb.name}.`;
    return { code: 'flag_misplaced', message, hint: `Write: ${verb.usage}`, ...wholeOf(given) };
  }
  if (!separator || verb.name === 'can-i') return undefined;
  const message = `${verb.name} runs no command, so nothing may follow --.`;
  return { code: 'flag_misplaced', message, hint: `Write: ${verb.usage}`, start: separator.start, end: separator.end };
}

function readId({ line, words, report }: VerbReading): string | undefined {
  const [word] = words;
  if (word) return readRunId(typed(word), report);
  const hint = `Give its id; ${COMMAND} list shows them.`;
  return report({ code: 'run_id_missing', message: 'No run is named.', hint, ...line.end });
}

function readById<Kind extends 'show' | 'stop' | 'rerun' | 'export' | 'logs'>(kind: Kind, reading: VerbReading) {
  const id = readId(reading);
  return noMore(reading, 1) && id !== undefined ? { kind, id } : undefined;
}

const CHANGES = ['pause', 'resume', 'continue', 'cancel'] as const;

function readBatch(reading: VerbReading): Command | undefined {
  const { line, report, words } = reading;
  const id = readId(reading);
  const scale = readScale(line, report);
  const isScaled = line.flags.size > 0;
  const word = words[1];
  if (!noMore(reading, 2) || id === undefined) return undefined;
  if (!word) return isScaled ? { kind: 'batch', id, change: { kind: 'scale', ...scale } } : { kind: 'batch', id };
  const change = CHANGES.find((name) => name === word.text);
  const at = { start: word.start, end: word.end };
  if (!change) {
    const guess = nearest(word.text, CHANGES);
    const hint = guess
      ? `Did you mean ${guess}?`
      : 'A batch takes pause, resume, continue, cancel, --parallelism and --replicas.';
    return report({ code: 'verb_unknown', message: `A batch cannot ${shown(word.text)}.`, hint, ...at });
  }
  if (!isScaled) return { kind: 'batch', id, change: { kind: change } };
  return report({
    code: 'flag_contradiction',
    message: `${change} takes no flags.`,
    hint: 'Send two commands.',
    ...at,
  });
}

function readApply(reading: VerbReading): Command | undefined {
  const location = readNamespaceFlags(reading.line, reading.report);
  if (!noMore(reading, 0)) return undefined;
  return { kind: 'apply', ...location, ...defined({ yaml: reading.yaml || undefined }) };
}
