import type { ContainerLog } from './container-log.ts';
import { TAG_LENGTH } from './stamps.ts';

/** Fills a new log with lines as `pods/log` with timestamps gives them, under the stamps that they have. */
export function fillRecorded(log: ContainerLog, lines: readonly string[]): ContainerLog {
  for (const line of lines) {
    const bytes = Buffer.from(`${line}\n`);
    log.file.append(bytes, bytes.length + TAG_LENGTH, Math.floor(Date.parse(line.slice(0, 19).concat('Z')) / 1000));
  }
  return log;
}
