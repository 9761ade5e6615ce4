import type { Change, LocalSlack, StoredFile } from '../../slack/index.ts';
import type { PageChange, PageFile, Snapshot } from '../contract.ts';

type SlackPart = Pick<Snapshot, 'team' | 'botUserId' | 'messages' | 'ephemerals' | 'notified' | 'files' | 'views'>;

/** The workspace as it is now; the page draws nothing that is not in here. */
export function slackNow({ state, botUserId }: LocalSlack): SlackPart {
  return {
    team: state.team,
    botUserId,
    messages: [...state.messages.values()].flatMap((channel) => [...channel.values()]),
    ephemerals: state.ephemerals,
    notified: state.notifications,
    files: [...state.files.values()].map(pageFile),
    views: [...state.views.values()].filter(({ open }) => open),
  };
}

/** What of a change the page shows; nothing for requests, deliveries and sockets. */
export function shownChange(change: Change): PageChange | undefined {
  switch (change.kind) {
    case 'posted':
    case 'updated':
    case 'reaction':
      return change.message.visibleTo === undefined
        ? { kind: 'message', message: change.message }
        : { kind: 'ephemeral', message: change.message };
    case 'deleted':
      return change.message.tombstone
        ? { kind: 'message', message: change.message }
        : { kind: 'message-gone', channel: change.message.channel, ts: change.message.ts };
    case 'ephemeral':
      return { kind: 'ephemeral', message: change.message };
    case 'ephemeral-removed':
      return { kind: 'ephemeral-gone', channel: change.message.channel, ts: change.message.ts };
    case 'notified':
      return { kind: 'notified', notification: change.notification };
    case 'file':
      return { kind: 'file', file: pageFile(change.file) };
    case 'view':
      return { kind: 'view', view: change.view };
    case 'team':
      return { kind: 'team', team: change.team };
    default:
      return undefined;
  }
}

/** Without the path, which is this machine's own business. */
function pageFile({ id, name, title, size, snippetType, altText, state }: StoredFile): PageFile {
  const more = { ...(snippetType === undefined ? {} : { snippetType }), ...(altText === undefined ? {} : { altText }) };
  return { id, name, title, size, state, ...more };
}
