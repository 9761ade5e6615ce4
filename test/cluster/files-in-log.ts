import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

const FRAME =
  /^-----BEGIN KDEBUG FILE name=(\S+) bytes=(\d+) sha256=([0-9a-f]{64}) encoding=(base64|gzip\+base64)-----\n((?:\d{6} [A-Za-z0-9+/=]*\n)*)-----END KDEBUG FILE name=\1 lines=(\d+)-----$/gm;

/**
 * The files that an image wrote into its log, by name: read in the plainest way, as somebody would by hand. Throws for
 * a line that is too long or has the wrong number, and for a file that is not what its first line says.
 */
export function filesInLog(log: string): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const [, name = '', bytes, sha256, encoding, body = '', count] of log.matchAll(FRAME)) {
    const lines = body.split('\n').slice(0, -1);
    if (lines.length !== Number(count)) throw new Error(`${name} has ${lines.length} lines, not ${count}`);
    const parts = lines.map((line, at) => {
      if (line.length > 8000 || Number(line.slice(0, 6)) !== at + 1) throw new Error(`${name}: line ${at + 1}`);
      return Buffer.from(line.slice(7), 'base64');
    });
    const packed = Buffer.concat(parts);
    const content = encoding === 'base64' ? packed : gunzipSync(packed);
    const sum = createHash('sha256').update(content).digest('hex');
    if (content.length !== Number(bytes) || sum !== sha256) throw new Error(`${name} is not whole`);
    files.set(name, content);
  }
  return files;
}
