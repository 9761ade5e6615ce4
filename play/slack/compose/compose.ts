import type { Team } from '../state/team.ts';
import { formatted, smartPunctuation } from './marks.ts';

/** What Slack makes of a text in the composer. */
export type Typed =
  /** `words`: what follows the name, people and channels as ids (the manifest's `should_escape`). */
  | { readonly kind: 'command'; readonly name: string; readonly words: string }
  | { readonly kind: 'mention' | 'words'; readonly text: string }
  /** `/invite @somebody`: the person's id. */
  | { readonly kind: 'invite'; readonly invited: string }
  | { readonly kind: 'refused'; readonly why: string };

export interface ComposerPlace {
  readonly botUserId: string;
  /** The slash commands of the app. */
  readonly commands: readonly string[];
  readonly inThread: boolean;
  /** Who types: a private channel that they are not in is no channel to them. Default: somebody who sees them all. */
  readonly user?: string;
  /** `smart`: macOS and iOS, which make `—` and curly quotes. Default `plain`. */
  readonly keyboard?: 'plain' | 'smart';
}

/**
 * Reads the text as Slack's composer does: a slash in front is a command, `@name` and `#channel` become ids, what looks
 * like an address a link, `- ` at a line's start a bullet; code is left alone.
 */
export function readTyped(text: string, team: Team, place: ComposerPlace): Typed {
  const typed = place.keyboard === 'smart' ? smartPunctuation(text) : text;
  const command = /^(\/\S*)\s*([\s\S]*)$/.exec(typed);
  const names = namesFor(team, place.user);
  if (command?.[1] !== undefined) return readCommand(command[1], command[2] ?? '', { team, names, ...place });
  const said = wired(
    typed,
    names,
    ({ id }) => `<@${id}>`,
    ({ id }) => `<#${id}>`,
  );
  return { kind: said.includes(`<@${place.botUserId}>`) ? 'mention' : 'words', text: said };
}

interface Reading extends ComposerPlace {
  readonly team: Team;
  readonly names: Names;
}

function readCommand(name: string, rest: string, { team, names, inThread, commands }: Reading): Typed {
  if (!commands.includes(name) && name !== '/invite') {
    return refused(
      `${name} is not a valid command. In Slack, all messages that start with the “/” character are interpreted as commands.`,
    );
  }
  if (inThread) return refused(`${name} is not supported in threads. Sorry!`);
  if (name === '/invite') return readInvite(rest, team);
  const words = wired(
    rest,
    names,
    (user) => `<@${user.id}|${user.name}>`,
    (channel) => `<#${channel.id}|${channel.name}>`,
  );
  return { kind: 'command', name, words: words.trim() };
}

const refused = (why: string): Typed => ({ kind: 'refused', why });

function readInvite(rest: string, team: Team): Typed {
  const name = /^@([\w.-]*\w)\s*$/.exec(rest)?.[1]?.toLowerCase();
  if (name === undefined) return refused('Name one person or app, as in /invite @kdebug.');
  const invited = Object.values(team.users).find((one) => one.name === name);
  return invited === undefined ? refused(`Nobody here is @${name}.`) : { kind: 'invite', invited: invited.id };
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** What `@` and `#` can name. */
interface Names {
  readonly people: ReadonlyMap<string, Named>;
  readonly channels: ReadonlyMap<string, Named>;
}

function namesFor(team: Team, user: string | undefined): Names {
  const seen = Object.values(team.channels).filter(
    ({ kind, members }) => kind === 'public' || (kind === 'private' && (user === undefined || members.includes(user))),
  );
  return {
    people: new Map(Object.values(team.users).map((one) => [one.name, one])),
    channels: new Map(seen.map((one) => [one.name, one])),
  };
}

/** `&`, `<` and `>` as entities (Slack, "Escaping text"), the composer's marks, then the names that stand alone as what they name. */
function wired(
  text: string,
  { people, channels }: Names,
  person: (one: Named) => string,
  channel: (one: Named) => string,
): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return formatted(escaped).replace(/(?<=^|\s)([@#])([\w.-]*\w)/g, (found, sign: string, name: string) => {
    const one = sign === '@' ? people.get(name.toLowerCase()) : channels.get(name.toLowerCase());
    if (one === undefined) return found;
    return sign === '@' ? person(one) : channel(one);
  });
}
