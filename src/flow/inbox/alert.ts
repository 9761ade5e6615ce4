import { parseCommand } from '../../core/command/parse.ts';
import { canonicalJson, sha256 } from '../../core/hash.ts';
import { asChannelId, asUserId } from '../../core/ids.ts';
import { alertTarget } from '../../core/request/alert-value.ts';
import type { RunRequest } from '../../core/request/command.ts';
import { commandErrorMessage } from '../../core/say/answers/private-messages.ts';
import { podInText } from '../../core/say/pod-in-text.ts';
import { commandOfForm } from '../../core/say/request-form.ts';
import { defined } from '../../lib/object.ts';
import { originOf } from '../context/accept.ts';
import { acceptOnce } from '../context/accept-once.ts';
import { answerReason, answerWith } from '../context/refusals.ts';
import { openRequestForm } from '../form/request-form.ts';
import type { AlertClick, Answer } from '../ports/slack.ts';
import type { InboxParts } from './handlers.ts';
import { channelNeeded } from './talk.ts';

/**
 * The button on an alert is a request of whoever clicks, as if they had typed the pod's name in the alert's thread. While the first click's
 * run is open, another click by anybody starts nothing. An alert that names no pod opens the form, with what its text says.
 */
export async function clickAlert(click: AlertClick, parts: InboxParts): Promise<Answer> {
  const { channelId, userId, value } = click;
  const who = { channelId: asChannelId(channelId), requesterId: asUserId(userId) };
  const noChannel = await channelNeeded(who, parts.deps);
  if (noChannel) return answerWith(noChannel);
  const target = alertTarget(value);
  if (!target) return answerReason('alert_unreadable', value.slice(0, MAX_SHOWN) || 'empty');
  if (target.pod === undefined) return openRequestForm(click, { ...podInText(click.text), ...target }, parts);
  const parsed = parseCommand(commandOfForm({ ...target }));
  if (parsed.kind === 'error') return answerWith(commandErrorMessage(parsed.error));
  return parsed.command.kind === 'run'
    ? accept(click, parsed.command.request, parts)
    : answerReason('alert_unreadable', value);
}

/** Of a value that is shown back to whoever clicked. */
const MAX_SHOWN = 100;

function accept(click: AlertClick, request: RunRequest, parts: InboxParts): Promise<Answer> {
  const { channelId, messageTs, threadTs = messageTs, responseUrl, value } = click;
  const first = sha256(canonicalJson(['alert', channelId, messageTs, value]));
  const origin = {
    ...originOf({ ...click, threadTs, dedupeKey: '' }, 'alert'),
    // Slack shows a private answer in a thread only once that has a reply.
    ...defined({ beginsThread: click.threadTs === undefined || undefined, responseUrl }),
  };
  return acceptOnce(
    {
      ...{ origin, request, extras: { offersEqual: true } },
      keyAfter: (earlierId) => (earlierId === undefined ? first : `${first}:${earlierId}`),
      ifOpen: (earlierId) => answerReason('alert_looked_at', `run ${earlierId}`),
    },
    parts,
  );
}
