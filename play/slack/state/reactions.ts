import type { StoredMessage } from './message.ts';
import type { SlackState } from './state.ts';

/** A person adds a reaction, or takes theirs back. The last one to leave takes the emoji along. */
export function toggleReaction(slack: SlackState, message: StoredMessage, by: { user: string; name: string }): void {
  const known = message.reactions.find((reaction) => reaction.name === by.name);
  if (known === undefined) message.reactions.push({ name: by.name, users: [by.user] });
  else if (known.users.includes(by.user)) known.users = known.users.filter((user) => user !== by.user);
  else known.users.push(by.user);
  message.reactions = message.reactions.filter(({ users }) => users.length > 0);
  slack.tell({ kind: 'reaction', message });
}
