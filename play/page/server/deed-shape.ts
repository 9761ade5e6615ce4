import { z } from 'zod';
import type { Deed } from '../contract.ts';

const id = z.string().min(1).max(255);
const text = z.string().max(40_000);
const press = {
  user: id,
  blockId: z.string().max(255),
  actionId: z.string().max(255),
  chosen: z.array(id).max(100).exactOptional(),
};

/** What a browser may send as a deed; anything else is a mistake of the page. */
export const DeedShape: z.ZodType<Deed> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('type'), user: id, channel: id, text, threadTs: id.exactOptional() }),
  z.strictObject({ kind: z.literal('press'), channel: id, ts: id, ...press }),
  z.strictObject({ kind: z.literal('press-attachment'), user: id, channel: id, ts: id, label: id }),
  z.strictObject({
    kind: z.literal('press-in-view'),
    viewId: id,
    ...press,
    values: z.record(z.string(), z.unknown()).exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('suggest'),
    user: id,
    viewId: id,
    blockId: press.blockId,
    actionId: press.actionId,
    typed: z.string().max(255),
  }),
  z.strictObject({ kind: z.literal('submit'), user: id, viewId: id, values: z.record(z.string(), z.unknown()) }),
  z.strictObject({ kind: z.literal('close-view'), user: id, viewId: id }),
  z.strictObject({
    kind: z.literal('shortcut'),
    user: id,
    callbackId: id,
    channel: id.exactOptional(),
    ts: id.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('react'),
    user: id,
    channel: id,
    ts: id,
    name: z.string().regex(/^[a-z0-9_+'-]{1,100}$/),
  }),
  z.strictObject({ kind: z.literal('open-direct'), user: id }),
  z.strictObject({ kind: z.literal('open-home'), user: id, tab: z.enum(['home', 'messages']) }),
  z.strictObject({
    kind: z.literal('trouble'),
    id,
    namespace: id.exactOptional(),
    pod: id.exactOptional(),
    container: id.exactOptional(),
  }),
]);
