import { defined } from '../../lib/object.ts';
import type { ParsedCommand, RunRequest } from '../request/command.ts';
import { type KnownVerb, verbNamed, verbNear } from './line/verbs.ts';
import { parseCommand } from './parse.ts';
import { readPasted } from './pasted.ts';

/** Words to the bot that may not be a command: `thanks`, `good bot`, `lsit`. */
export interface Talk {
  readonly first: string;
  /** The request, if the first word could be a pod's name. If that pod exists, this is a command after all. */
  readonly request?: RunRequest;
  readonly guess?: KnownVerb;
}

/** The errors that talk causes; any other error means a mistyped command. */
const OF_TALK: ReadonlySet<string> = new Set(['word_unexpected', 'name_invalid', 'quote_open']);
/** More words than this are a sentence. */
const MAX_OF_VERB = 2;

/**
 * Returns the talk in a mention that may be some: a lone word that could be a pod's name, or several words that are no
 * command. A flag, a verb or a `/` always means a command. Linear.
 */
export function talkIn(text: string, parsed: ParsedCommand): Talk | undefined {
  const words = readPasted(text).line.trim().split(/\s+/);
  const [first = ''] = words;
  const isLone = words.length === 1;
  const mayBe = parsed.kind === 'ok' ? isLone && parsed.command.kind === 'run' : OF_TALK.has(parsed.error.code);
  if (!mayBe || verbNamed(first) || first.includes('/') || words.some((word) => word.startsWith('-'))) return undefined;
  const alone = isLone ? parsed : parseCommand(first);
  const request = alone.kind === 'ok' && alone.command.kind === 'run' ? alone.command.request : undefined;
  const guess = words.length <= MAX_OF_VERB ? verbNear(first) : undefined;
  return { first, ...defined({ request, guess }) };
}
