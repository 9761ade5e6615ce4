import { AUTH_METHODS } from './auth.ts';
import { CHAT_METHODS } from './chat.ts';
import { CONVERSATION_METHODS } from './conversations.ts';
import { FILE_METHODS } from './files.ts';
import type { Method } from './method.ts';
import { PEOPLE_METHODS } from './people.ts';
import { VIEW_METHODS } from './views.ts';

/** Every Web API method that this Slack knows; any other is `unknown_method`. */
export const METHODS: ReadonlyMap<string, Method> = new Map(
  [...AUTH_METHODS, ...CHAT_METHODS, ...CONVERSATION_METHODS, ...FILE_METHODS, ...PEOPLE_METHODS, ...VIEW_METHODS].map(
    (method) => [method.name, method],
  ),
);

/** All bot scopes that these methods can ask for, without `chat:write.public`. */
export const ALL_SCOPES: readonly string[] = [
  ...new Set([...METHODS.values()].flatMap((method) => (method.token === 'app' ? [] : method.scopes))),
  'app_mentions:read',
  'commands',
];
