import { createHash } from 'node:crypto';

/** A file as an image writes it into its log, in one line (docs/diagnostic-images.md). */
export function framed(name: string, content: string): string {
  const bytes = Buffer.from(content);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return [
    `-----BEGIN KDEBUG FILE name=${name} bytes=${bytes.length} sha256=${sha256} encoding=base64-----`,
    `000001 ${bytes.toString('base64')}`,
    `-----END KDEBUG FILE name=${name} lines=1-----`,
    '',
  ].join('\n');
}
