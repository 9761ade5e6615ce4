/** With these the kubelet begins what it writes behind a log that it could not read on (kuberuntime, cri-client/pkg/logs). */
const BEGINNINGS = [
  'failed to create fsnotify watcher: ',
  'failed to watch directory "',
  'failed to try resolving symlinks in path "',
  'failed to open log file "',
  'failed to read log file "',
  'failed to seek ',
  'failed to reset seek in log file "',
  'failed to get parse function: ',
  'unable to retrieve container logs for ',
  'rpc error: code = ',
] as const;

/** The kubelet's words are one sentence with a path or two in it. */
export const MOST_WORDS_BYTES = 4_096;

const LONGEST = Math.max(...BEGINNINGS.map((beginning) => beginning.length));

/** Whether text without a stamp is an error of the node's, or, as far as it has come, may become one. */
export function mayBeNodeWords(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, LONGEST);
  return BEGINNINGS.some((beginning) => beginning.startsWith(head) || head.startsWith(beginning));
}

/** Where in a text such an error begins, whose beginning is whole; -1 where there is none. */
export function findNodeWords(bytes: Buffer): number {
  const found = BEGINNINGS.map((beginning) => bytes.indexOf(beginning, 0, 'latin1')).filter((at) => at >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}
