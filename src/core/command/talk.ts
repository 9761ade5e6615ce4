import { defined } from '../../lib/object.ts';
import type { ParsedCommand, RunRequest } from './command.ts';
import { parseCommand } from './parse.ts';
import { readPasted } from './pasted.ts';
import { type KnownVerb, verbNamed, verbNear } from './verbs.ts';

/** Words to the bot that may be no command at all: `thanks`, `good bot`, `lsit`. */
export interface Talk {
  readonly first: string;
  /** What the first word would ask for, where it can be a pod's name: if there is that pod, it is no talk. */
  readonly request?: RunRequest;
  /** The verb that was probably meant. */
  readonly guess?: KnownVerb;
}

/** What words that are no command are refused for; anything else is a command with a mistake in it. */
const OF_TALK: ReadonlySet<string> = new Set(['word_unexpected', 'name_invalid', 'quote_open']);
/** More words than that are a sentence. */
const MAX_OF_VERB = 2;

/**
 * Whether the words of a mention may be talk: a lone word that would be a pod's name, or several without a flag that make no
 * command. Who names a kind, a namespace or a verb means a command. Linear.
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
