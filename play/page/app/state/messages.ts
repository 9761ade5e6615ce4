import type { StoredMessage } from '../../../slack/state/message.ts';

/** A channel's messages, split as they are drawn: the channel itself, and each thread's replies. All in order of `ts`. */
export interface ChannelLog {
  readonly roots: readonly StoredMessage[];
  readonly replies: ReadonlyMap<string, readonly StoredMessage[]>;
}

export const EMPTY_LOG: ChannelLog = { roots: [], replies: new Map() };
export const NO_MESSAGES: readonly StoredMessage[] = [];

/** Puts a message in its place, or in the place of its former self; all others stay the same objects. */
export function putMessage(list: readonly StoredMessage[], message: StoredMessage): readonly StoredMessage[] {
  const last = list.at(-1);
  if (last === undefined || last.ts < message.ts) return [...list, message];
  const index = list.findIndex(({ ts }) => ts >= message.ts);
  const isSame = list[index]?.ts === message.ts;
  return list.toSpliced(index, isSame ? 1 : 0, message);
}

export function withoutMessage(list: readonly StoredMessage[], gone: string): readonly StoredMessage[] {
  const index = list.findIndex(({ ts }) => ts === gone);
  return index === -1 ? list : list.toSpliced(index, 1);
}

export function putInLog(log: ChannelLog, message: StoredMessage): ChannelLog {
  if (message.threadTs === undefined) return { ...log, roots: putMessage(log.roots, message) };
  const thread = log.replies.get(message.threadTs) ?? NO_MESSAGES;
  return { ...log, replies: new Map(log.replies).set(message.threadTs, putMessage(thread, message)) };
}

export function takeFromLog(log: ChannelLog, ts: string): ChannelLog {
  const roots = withoutMessage(log.roots, ts);
  if (roots !== log.roots) return { ...log, roots };
  for (const [root, thread] of log.replies) {
    const left = withoutMessage(thread, ts);
    if (left !== thread) return { ...log, replies: new Map(log.replies).set(root, left) };
  }
  return log;
}

/** All messages of all channels at once: one pass and one sort, whatever their number. */
export function logsOf(messages: readonly StoredMessage[]): Map<string, ChannelLog> {
  const found = new Map<string, { roots: StoredMessage[]; replies: Map<string, StoredMessage[]> }>();
  for (const message of [...messages].sort((one, other) => (one.ts < other.ts ? -1 : 1))) {
    let log = found.get(message.channel);
    if (log === undefined) {
      log = { roots: [], replies: new Map() };
      found.set(message.channel, log);
    }
    if (message.threadTs === undefined) log.roots.push(message);
    else {
      const thread = log.replies.get(message.threadTs);
      if (thread) thread.push(message);
      else log.replies.set(message.threadTs, [message]);
    }
  }
  return found;
}
