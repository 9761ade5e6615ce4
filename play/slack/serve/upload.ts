import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import type { SlackState } from '../state/state.ts';
import type { Answer } from './http.ts';

/** Takes the bytes of uploads straight to disk: memory stays flat whatever the size. The folder is gone after `close`. */
export class Uploads {
  private readonly slack: SlackState;
  private readonly folder = mkdtemp(join(tmpdir(), 'local-slack-'));

  constructor(slack: SlackState) {
    this.slack = slack;
  }

  /** "Slack will return HTTP 200 if the upload is successful": raw bytes or multipart, exactly the announced length. */
  async receive(id: string, request: IncomingMessage): Promise<Answer> {
    const file = this.slack.files.get(id);
    if (file === undefined || file.state !== 'awaiting-bytes') return { status: 404, body: 'no such upload' };
    const path = join(await this.folder, id);
    const bytes = await this.store(request, path);
    if (bytes !== file.size) return { status: 400, body: `expected ${file.size} bytes, got ${bytes}` };
    file.path = path;
    file.state = 'uploaded';
    return { status: 200, body: `OK - ${bytes}` };
  }

  async close(): Promise<void> {
    await rm(await this.folder, { recursive: true, force: true });
  }

  private async store(request: IncomingMessage, path: string): Promise<number> {
    if (!request.headers['content-type']?.startsWith('multipart/form-data')) return writeCounted(request, path);
    const parts: Promise<number>[] = [];
    const form = busboy({ headers: request.headers, limits: { files: 1 } });
    form.on('file', (_field, stream) => parts.push(writeCounted(stream, path)));
    await pipeline(request, form);
    const [bytes] = await Promise.all(parts);
    return bytes ?? 0;
  }
}

async function writeCounted(source: Readable, path: string): Promise<number> {
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(source, count, createWriteStream(path));
  return bytes;
}
