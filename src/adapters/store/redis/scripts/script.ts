import { createHash } from 'node:crypto';
import { PRELUDE } from './prelude.ts';

/** A Lua script that Redis runs atomically, and the name (SHA-1) by which Redis knows it once it has seen it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** Every script begins with the prelude, so that time, key names and the bookkeeping of the indexes exist once. */
export function script(body: string): Script {
  const text = `${PRELUDE}\n${body}`;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
