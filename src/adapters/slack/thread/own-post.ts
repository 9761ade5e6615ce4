import { z } from 'zod';
import type { PostMeta } from '../../../flow/ports/slack.ts';
import type { Identity } from '../identity.ts';
import { EVENT_TYPE } from './messages.ts';

/** The fields of a message that looking for our own needs. */
export const Posted = z.object({
  ts: z.string(),
  bot_id: z.string().optional().catch(undefined),
  user: z.string().optional().catch(undefined),
  metadata: z
    .object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) })
    .optional()
    .catch(undefined),
  blocks: z.array(z.unknown()).optional().catch(undefined),
  files: z
    .array(z.object({ id: z.string(), name: z.string().optional().catch(undefined) }))
    .optional()
    .catch(undefined),
});
export type Posted = z.infer<typeof Posted>;

/** By what a message is known to be our own; undefined before the start. */
export type Ourselves = Pick<Identity, 'botId' | 'botUserId'> | undefined;

/** A message that shares a file names our user, but not always our bot. No other app can post as either. */
const isByUs = ({ bot_id, user }: Posted, us: NonNullable<Ourselves>): boolean =>
  bot_id === us.botId || user === us.botUserId;

/**
 * Whether a message is one of ours for this run. Metadata alone proves nothing: any app may write any. Slack gives a message that
 * shares files none, and may keep it from an app without `metadata:read`: then the small print of the message tells.
 */
export const isPostOf =
  (meta: Pick<PostMeta, 'run' | 'kind'>, us: Ourselves) =>
  (message: Posted): boolean => {
    const { metadata } = message;
    if (us !== undefined && !isByUs(message, us)) return false;
    if (metadata === undefined) return us !== undefined && isSignedFor(meta, message);
    const { run, kind } = metadata.event_payload;
    return metadata.event_type === EVENT_TYPE && run === meta.run && kind === meta.kind;
  };

export const sharesFile =
  (fileId: string) =>
  ({ files }: Posted): boolean =>
    files?.some((file) => file.id === fileId) ?? false;

/** The ids of the files of these names, if the message is ours and shares all of them. */
export const ownFiles =
  (filenames: readonly string[], us: Ourselves) =>
  (message: Posted): readonly string[] | undefined => {
    const ids = filenames.flatMap((filename) => message.files?.find(({ name }) => name === filename)?.id ?? []);
    return ids.length === filenames.length && (us === undefined || isByUs(message, us)) ? ids : undefined;
  };

/** How the small print of each kind names its run; a test holds these and the messages together. */
const SIGNATURES: Readonly<Record<PostMeta['kind'], readonly string[]>> = {
  anchor: ['run', 'batch'],
  result: ['Run', 'Batch'],
  copy: ['run', 'batch', 'Copy of run'],
  reminder: ['Reminder of run'],
};

const isSignedFor = ({ run, kind }: Pick<PostMeta, 'run' | 'kind'>, { blocks = [] }: Posted): boolean =>
  SIGNATURES[kind].some((word) => blocks.flatMap(smallPrintOf).includes(`${word} ${run}`));

const Context = z.object({
  type: z.literal('context'),
  elements: z.array(z.object({ type: z.string(), text: z.string().catch('') })),
});

/** The pieces of a context block's words, as far as they are kdebug's own: what was typed comes after `/kdebug`. */
function smallPrintOf(block: unknown): readonly string[] {
  const context = Context.safeParse(block);
  if (!context.success) return [];
  const words = context.data.elements.map(({ type, text }) => (type === 'plain_text' ? text : '')).join('·');
  return (words.split('/kdebug', 1)[0] ?? '').split('·').map((piece) => piece.trim());
}
