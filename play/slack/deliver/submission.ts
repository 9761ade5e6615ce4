import { isJson } from '../api/args.ts';
import { SlackError } from '../api/slack-error.ts';
import { checkedView, pushView, replaceView } from '../api/views.ts';
import type { Json, StoredView } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import type { Delivery } from './courier.ts';

/** What Slack writes into the window when the app's answer is none that it takes. */
const TROUBLE = 'We had some trouble connecting. Try again?';

/** Slack keeps at most three modals on top of each other. */
const MAX_VIEWS = 3;

/**
 * What becomes of a submitted modal. An empty acknowledgement closes it, `clear` the whole stack; `errors` keeps it open,
 * `update` replaces it, `push` opens another over it. Anything else leaves it open with `trouble`: no answer, errors for
 * blocks that are no inputs of it, a view with faults.
 */
export function afterSubmission(slack: SlackState, view: StoredView, { error, body }: Delivery): void {
  delete view.errors;
  delete view.trouble;
  try {
    if (error !== undefined) throw new SlackError(error);
    apply(slack, view, isJson(body) ? body : {});
  } catch (thrown) {
    if (!(thrown instanceof SlackError)) throw thrown;
    view.trouble = TROUBLE;
  }
  slack.tell({ kind: 'view', view });
}

function apply(slack: SlackState, view: StoredView, answer: Json): void {
  switch (answer.response_action) {
    case undefined:
      view.open = false;
      return;
    case 'clear':
      for (const one of stackOf(slack, view)) {
        one.open = false;
        if (one !== view) slack.tell({ kind: 'view', view: one });
      }
      return;
    case 'errors':
      view.errors = checkedErrors(view, answer.errors);
      return;
    case 'update':
      replaceView(slack, view, checkedView(answer.view, 'modal'));
      return;
    case 'push':
      if (stackOf(slack, view).length >= MAX_VIEWS) throw new SlackError('push_limit_reached');
      pushView(slack, view, checkedView(answer.view, 'modal'));
      return;
    default:
      throw new SlackError('invalid_response_action');
  }
}

/** Errors stand under inputs: each key is the block id of one. */
function checkedErrors(view: StoredView, errors: unknown): Json {
  const blocks = Array.isArray(view.view.blocks) ? view.view.blocks.filter(isJson) : [];
  const inputs = blocks.filter(({ type }) => type === 'input').map((block) => block.block_id);
  const isTaken =
    isJson(errors) &&
    Object.keys(errors).length > 0 &&
    Object.entries(errors).every(([id, text]) => inputs.includes(id) && typeof text === 'string');
  if (!isTaken) throw new SlackError('invalid_errors');
  return errors;
}

/** The open views of one stack. */
function stackOf(slack: SlackState, view: StoredView): StoredView[] {
  const root = view.rootId ?? view.id;
  return [...slack.views.values()].filter((one) => one.open && (one.rootId ?? one.id) === root);
}
