import { z } from 'zod';
import { KdebugError } from '../../../core/errors.ts';
import type { PostRef } from '../../../core/run/run-state.ts';
import type { Destination } from '../../../flow/ports/slack.ts';
import { type Clock, sleep } from '../../../lib/clock.ts';
import type { Speaker } from './messages.ts';

/** Slack shares in the background. Pauses between look-ups of the message, 16 s in all. */
const SEARCH_AFTER_MS = [250, 500, 1_000, 2_000, 4_000, 8_000] as const;

const Shares = z.record(z.string(), z.array(z.object({ ts: z.string() })));
const SharedFile = z.object({
  shares: z.object({ public: Shares.optional().catch(undefined), private: Shares.optional().catch(undefined) }),
});

/** Slack may refuse to tell where a file is, and show it all the same. */
const REFUSALS: ReadonlySet<string> = new Set(['slack_refused', 'slack_channel_closed']);

/** Undefined if the file's record does not say so in time. */
export async function whereShown(
  uploader: Speaker & { readonly clock: Clock },
  { channelId }: Destination,
  fileId: string,
): Promise<PostRef | undefined> {
  const { client, poster, clock } = uploader;
  const call = { method: 'files.info', lane: 'final', repeatable: true } as const;
  try {
    for (const waitMs of [...SEARCH_AFTER_MS, undefined]) {
      const answer = await poster.call(call, () => client.files.info({ file: fileId }));
      const file = SharedFile.safeParse(answer.file);
      const { shares } = file.success ? file.data : { shares: {} };
      const ts = [shares.public, shares.private].flatMap((kind) => kind?.[channelId] ?? []).at(0)?.ts;
      if (ts !== undefined) return { channelId, ts };
      if (waitMs !== undefined) await sleep(clock, waitMs);
    }
  } catch (thrown) {
    // The caller can still search the channel or thread.
    if (!(thrown instanceof KdebugError) || !REFUSALS.has(thrown.code)) throw thrown;
  }
  return undefined;
}
