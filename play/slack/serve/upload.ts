import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import type { StoredFile } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import type { Answer } from './http.ts';

/** Who shares a file, and where this Slack is. */
interface Kept {
  readonly user: string;
  readonly name: string;
  readonly origin: string;
}

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

  /** A file that a person shares: it is there at once. */
  async keep({ user, name, origin }: Kept, bytes: Buffer): Promise<StoredFile> {
    const id = this.slack.nextId('F');
    const path = join(await this.folder, id);
    await writeFile(path, bytes);
    const known = { id, name, title: name, size: bytes.length, createdAtMs: this.slack.now(), shares: [], user, path };
    const file: StoredFile = { ...known, state: 'complete', urlPrivate: `${origin}/files-pri/${id}/${name}` };
    this.slack.files.set(id, file);
    return file;
  }

  /** `url_private`: "a bearer token with files:read"; everybody else is sent to a page to sign in. */
  async download(id: string, authorization: string | undefined): Promise<Answer> {
    const { app, files } = this.slack;
    const isAllowed = authorization === `Bearer ${app.botToken}` && app.scopes.includes('files:read');
    if (!isAllowed) return { status: 302, body: '', headers: { location: '/' } };
    const path = files.get(id)?.path;
    return path === undefined
      ? { status: 404, body: 'no such file' }
      : { status: 200, body: await readFile(path, 'utf8') };
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
