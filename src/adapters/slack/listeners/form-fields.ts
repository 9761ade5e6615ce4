import type { PlainTextOption } from '@slack/types';
import type { FieldName, FormName, SearchName } from '../../../core/actions.ts';
import { toKdebugError } from '../../../core/errors.ts';
import type { Form } from '../../../core/say/message/message.ts';
import { defined } from '../../../lib/object.ts';
import { ChangePayload, FormOrigin, SearchPayload } from '../payloads.ts';
import type { Acknowledge } from '../receiving/acknowledge.ts';
import { fieldsOf } from '../views/form-state.ts';
import { menuOf, modal } from '../views/modal.ts';
import { admit, type Delivered, type Handler, type ListenerContext, refusal, senderOf, teamIdOf } from './gate.ts';
import { tellOrLog, updateUnlessClosed } from './respond.ts';

/** The only form whose fields are heard. */
const FORM: FormName = 'debug';

/**
 * Words in a search field: answered with what may be picked. A refusal or a payload that is not understood gives no
 * options, because the menu has no room for a reason, and people cause one with every character.
 */
export async function onSearch(
  { context, handler, body }: Delivered<Handler<SearchName>>,
  ack: Acknowledge<{ options: PlainTextOption[] }>,
): Promise<void> {
  const payload = SearchPayload.safeParse(body);
  const origin = payload.success ? FormOrigin.safeParse(payload.data.view.private_metadata) : undefined;
  if (!payload.success || !origin?.success || origin.data.name !== FORM) {
    context.log.warn('malformed search ignored');
    return void (await ack({ options: [] }));
  }
  const { user, value: typed } = payload.data;
  const { value: formValue, channelId } = origin.data;
  const form = { value: formValue, channelId, userId: user.id, teamId: teamIdOf(payload.data, context.identity) };
  const query = { ...form, field: handler.name, typed, receivedAtMs: context.clock.now() };
  const call = () => context.inbox.search(query);
  const admission = await admit({ context, handler }, { sender: senderOf(payload.data, channelId), call });
  await ack({ options: menuOf(admission.kind === 'answered' ? admission.answer : [], typed) });
}

/** The newest change of each view whose form is being made again: an older one must not replace it. */
const newest = new WeakMap<ListenerContext, Map<string, object>>();

/** A changed field that others depend on: acknowledged, then the view is replaced by the form as it should be now. */
export async function onChange(
  { context, handler, body }: Delivered<Handler<FieldName>>,
  ack: () => Promise<void>,
): Promise<void> {
  const payload = ChangePayload.safeParse(body);
  const origin = payload.success ? FormOrigin.safeParse(payload.data.view.private_metadata) : undefined;
  if (!payload.success || !origin?.success || origin.data.name !== FORM) {
    context.log.warn('malformed form change ignored');
    return ack();
  }
  const { user, view } = payload.data;
  const { value, channelId, threadTs } = origin.data;
  const form = { value, channelId, userId: user.id, teamId: teamIdOf(payload.data, context.identity) };
  const change = { ...form, fields: fieldsOf(view.state.values), receivedAtMs: context.clock.now() };
  const changes = newest.get(context) ?? new Map<string, object>();
  newest.set(context, changes);
  changes.set(view.id, change);
  const isNewest = (): boolean => changes.get(view.id) === change;
  const call = () => context.inbox.change(change);
  const admission = await admit({ context, handler }, { sender: senderOf(payload.data, channelId), call });
  await ack();
  if (admission.kind === 'refused') {
    const destination = { channelId, userId: user.id, ...defined({ threadTs }) };
    context.inBackground(tellOrLog(context, destination, refusal(admission.error, context.names)));
  }
  const answer = admission.kind === 'answered' ? admission.answer : undefined;
  const shown = answer ? show(context, { view, isNewest }, modalOf(answer, origin.data)) : Promise.resolve();
  context.inBackground(
    shown.finally(() => {
      if (isNewest()) changes.delete(view.id);
    }),
  );
}

const modalOf = (form: Form, { channelId, threadTs }: FormOrigin) =>
  modal(form, { channelId, ...defined({ threadTs }) });

interface ChangedView {
  readonly view: { readonly id: string; readonly hash: string };
  /** No later change of the view is known in this process. */
  readonly isNewest: () => boolean;
}

/**
 * The `hash` guards against an update that overtakes this one. A conflict means that our answer to the change before came
 * in between: people do not see it before their next choice. So the newest change replaces it. Never rejects.
 */
async function show(
  context: ListenerContext,
  { view: { id, hash }, isNewest }: ChangedView,
  replacement: ReturnType<typeof modal>,
): Promise<void> {
  if (!isNewest()) return;
  try {
    await updateUnlessClosed(context, { id, hash }, replacement).catch(async (thrown: unknown) => {
      if (toKdebugError(thrown).facts.error !== 'hash_conflict') throw thrown;
      if (isNewest()) await updateUnlessClosed(context, { id }, replacement);
    });
  } catch (thrown) {
    context.log.warn('form not updated', { error: thrown });
  }
}
