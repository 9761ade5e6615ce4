import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { StoredFile } from '../state/message.ts';

/** A delivered file with its bytes. */
export interface FileView extends StoredFile {
  /** All bytes at once. @throws Error before they have arrived */
  content(): Promise<Buffer>;
  stream(): AsyncIterable<Buffer>;
}

export function viewOf(file: StoredFile): FileView {
  const path = (): string => {
    if (file.path === undefined) throw new Error(`${file.id} has no bytes yet`);
    return file.path;
  };
  return { ...file, content: () => readFile(path()), stream: () => createReadStream(path()) };
}
