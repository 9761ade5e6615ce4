/**
 * The names under which people know kdebug, and each other. The slash command belongs to the Slack app and the bot's name to the workspace, so a sentence holds
 * `COMMAND` or `BOT` in their place, and `withNames` puts the names in where the sentence leaves kdebug: in the Slack adapter before a message is
 * measured, and in the tools that print.
 */
export interface ShownNames {
  /** With its slash: `/kdebug`. */
  readonly command: string;
  /** With its sign: `@kdebug`. */
  readonly bot: string;
  /** Of a person, by Slack user id; undefined: not known. */
  readonly nameOf?: (userId: string) => string | undefined;
}

/** The names in slack-app.yml and in the documents. */
export const DEFAULT_NAMES: ShownNames = { command: '/kdebug', bot: '@kdebug' };

/**
 * Stand for the names. Unicode has not assigned these two characters and counts them as invisible, so texts of people and clusters do not hold
 * them: `visible` writes them out, `cleanText` removes them. Where one comes through all the same, it becomes a name, which anybody may write.
 */
export const COMMAND = '\uFFF0';
export const BOT = '\uFFF1';

/**
 * Every text of `shown`, however deep, with the names in place of the markers, and every person with their name. Values that are neither text, list
 * nor plain object stay as they are.
 */
export function withNames<Value>(shown: Value, names: ShownNames): Value;
export function withNames(shown: unknown, names: ShownNames): unknown {
  if (typeof shown === 'string') return shown.replaceAll(COMMAND, () => names.command).replaceAll(BOT, () => names.bot);
  if (Array.isArray(shown)) return shown.map((each) => withNames(each, names));
  if (typeof shown !== 'object' || shown === null || Object.getPrototypeOf(shown) !== Object.prototype) return shown;
  const person = 'kind' in shown && shown.kind === 'person' && 'userId' in shown ? String(shown.userId) : '';
  const name = names.nameOf?.(person);
  const named = Object.entries(shown).map(([key, value]) => [key, withNames(value, names)]);
  return { ...Object.fromEntries(named), ...(name === undefined ? {} : { name }) };
}

/** As Slack takes it: lower-case letters, digits, hyphens and underscores behind a slash, 32 characters in all. */
export const isCommandName = (text: string): boolean => /^\/[a-z0-9_-]{1,31}$/.test(text);
