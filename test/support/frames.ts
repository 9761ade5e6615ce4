import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface FrameOptions {
  readonly encoding?: 'base64' | 'gzip+base64';
  /** Characters of base64 a line; a multiple of 4. */
  readonly lineLength?: number;
}

/** A file as a diagnostic image writes it into its log (docs/diagnostic-images.md, "Files"). */
export function frame(
  name: string,
  content: string | Uint8Array,
  { encoding = 'base64', lineLength = 7_992 }: FrameOptions = {},
): string {
  const bytes = Buffer.from(content);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const base64 = (encoding === 'base64' ? bytes : gzipSync(bytes)).toString('base64');
  const lines = Array.from(
    { length: Math.ceil(base64.length / lineLength) },
    (_, index) =>
      `${String(index + 1).padStart(6, '0')} ${base64.slice(index * lineLength, (index + 1) * lineLength)}\n`,
  );
  return [
    `-----BEGIN KDEBUG FILE name=${name} bytes=${bytes.length} sha256=${sha256} encoding=${encoding}-----\n`,
    ...lines,
    `-----END KDEBUG FILE name=${name} lines=${lines.length}-----\n`,
  ].join('');
}
