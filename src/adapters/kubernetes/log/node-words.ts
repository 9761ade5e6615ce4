/** With these the kubelet alone begins what it writes behind a log that it could not read on (kuberuntime, cri-client/pkg/logs). */
const ITS_OWN = [
  'failed to create fsnotify watcher: ',
  'failed to watch directory "',
  'failed to try resolving symlinks in path "',
  'failed to open log file "',
  'failed to read log file "',
  'failed to reset seek in log file "',
  'failed to get parse function: ',
  'unable to retrieve container logs for ',
] as const;

/** And with these, which programs write too: after a stamp they are a program's, whose last line may have no newline. */
const BEGINNINGS = [...ITS_OWN, 'failed to seek ', 'rpc error: code = '] as const;

/** The kubelet's words are one sentence with a path or two in it. */
export const MAX_WORDS_BYTES = 4_096;

const MAX_LENGTH = Math.max(...BEGINNINGS.map((beginning) => beginning.length));

/** Whether text without a stamp is an error of the node's, or, as far as it has come, may become one. */
export function mayBeNodeWords(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, MAX_LENGTH);
  return BEGINNINGS.some((beginning) => beginning.startsWith(head) || head.startsWith(beginning));
}

/** Where in a line such an error begins that nobody else writes; -1 where there is none. */
export function findNodeWords(bytes: Buffer): number {
  const found = ITS_OWN.map((beginning) => bytes.indexOf(beginning, 0, 'latin1')).filter((at) => at >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}
