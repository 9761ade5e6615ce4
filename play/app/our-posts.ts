import type { StoredMessage } from '../slack/state/message.ts';
import type { SlackState } from '../slack/state/state.ts';

/** What a post of kdebug is. */
export interface Tag {
  /** A run's id, or a batch's. */
  readonly run: string;
  readonly kind: string;
}

/**
 * Which run a post of kdebug speaks of: by the metadata that it puts on its posts (design, section 3). A message with files can carry
 * none; it is known by their names, and as a result by its blocks.
 */
export function tagOf({ files }: Pick<SlackState, 'files'>, message: StoredMessage): Tag | undefined {
  const payload = message.metadata?.event_payload;
  if (typeof payload === 'object' && payload !== null && 'run' in payload && 'kind' in payload)
    return { run: String(payload.run), kind: String(payload.kind) };
  const names = message.files.map((id) => files.get(id)?.name ?? '');
  const [, run] = names.map((name) => /^kdebug-(?:batch-)?([a-z0-9]+)[.-]/.exec(name)).find(Boolean) ?? [];
  return run === undefined ? undefined : { run, kind: message.blocks.length > 0 ? 'result' : 'files' };
}
