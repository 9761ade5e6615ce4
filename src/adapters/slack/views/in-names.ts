import type { Form } from '../../../core/say/message/message.ts';
import { type ShownNames, withNames } from '../../../core/shown-names.ts';
import type { Inbox, Later, Thread } from '../../../flow/ports/slack.ts';
import { defined } from '../../../lib/object.ts';

/** The names in an answer to a person who may have typed the slash command under another name. */
export const namesFor = ({ command }: { readonly command?: string | undefined }, names: ShownNames): ShownNames => ({
  ...names,
  ...defined({ command }),
});

/** The inbox, whose answers say the names, so that whatever a listener renders is measured with them. */
export function inboxInNames(inbox: Inbox, names: ShownNames): Inbox {
  const answer = async <Answer>(answering: Promise<Answer>, used = names): Promise<Answer> => {
    const given = await answering;
    return isLater(given) ? { ...given, answer: answer(given.answer, used) } : withForm(withNames(given, used), used);
  };
  return {
    command: (origin, words) => answer(inbox.command(origin, words), namesFor(origin, names)),
    action: (click) => answer(inbox.action(click)),
    alert: (click) => answer(inbox.alert(click)),
    submit: (submission) => answer(inbox.submit(submission)),
    shortcut: (shortcut) => answer(inbox.shortcut(shortcut)),
    search: (query) => answer(inbox.search(query)),
    change: (change) => answer(inbox.change(change)),
    globalShortcut: (use) => answer(inbox.globalShortcut(use)),
    invited: (invitation) => answer(inbox.invited(invitation)),
    home: (visitor) => answer(inbox.home(visitor)),
    refused: (refused) => inbox.refused(refused),
  };
}

const isLater = <Answer>(answer: Answer): answer is Answer & Later<unknown> =>
  typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'later';

/** The form that an answer promises says the names, too. */
function withForm<Answer>(answer: Answer, names: ShownNames): Answer {
  if (!promisesForm(answer)) return answer;
  const { complete } = answer;
  return { ...answer, complete: async () => withNames(await complete(), names) };
}

const promisesForm = <Answer>(answer: Answer): answer is Answer & { readonly complete: () => Promise<Form> } =>
  typeof answer === 'object' && answer !== null && 'complete' in answer && typeof answer.complete === 'function';

/** The thread, which says the names in all that it posts. `names` is asked at each call, as the bot's own is known from the start on. */
export const threadInNames = (thread: Thread, names: () => ShownNames): Thread => ({
  ...thread,
  post: (destination, message, meta, sure) => thread.post(destination, withNames(message, names()), meta, sure),
  update: (ref, message, meta, lane) => thread.update(ref, withNames(message, names()), meta, lane),
  share: (destination, messageOf, files, sure) =>
    thread.share(destination, (refused) => withNames(messageOf(refused), names()), files, sure),
  tell: (person, message) => thread.tell(person, withNames(message, namesFor(person, names()))),
});
