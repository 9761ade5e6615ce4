import { hmacSha256 } from '../hash.ts';

/** What a signature is for; the one is never taken for the other. */
export type Purpose = 'record' | 'head';

const MAC_FIELD = /^,"mac":"[0-9a-f]{64}"\}$/;
const MAC_FIELD_BYTES = ',"mac":"'.length + 64 + '"}'.length;

const macOf = (key: Uint8Array, purpose: Purpose, body: string | Uint8Array): string =>
  hmacSha256(key, `kdebug audit ${purpose}\n`, body);

/** `fields` (at least one) as one line of JSON, with a last field `mac`: the HMAC of every byte before it. */
export function sign(
  key: Uint8Array,
  purpose: Purpose,
  fields: object,
): { readonly line: string; readonly mac: string } {
  const body = JSON.stringify(fields).slice(0, -1);
  const mac = macOf(key, purpose, body);
  return { line: `${body},"mac":"${mac}"}`, mac };
}

/**
 * Reads a line that `sign` made. `unsigned`: it has not the form; `changed`: a byte differs, or the key does. Only
 * whoever has the key can make a line that is `genuine`, so its fields may be believed to have the shape they were given.
 */
export function openSigned(
  key: Uint8Array,
  purpose: Purpose,
  line: Buffer,
): { readonly kind: 'unsigned' | 'changed' } | { readonly kind: 'genuine'; readonly fields: unknown } {
  const split = line.length - MAC_FIELD_BYTES;
  const field = split > 0 ? line.toString('latin1', split) : '';
  if (!MAC_FIELD.test(field)) return { kind: 'unsigned' };
  const body = line.subarray(0, split);
  if (macOf(key, purpose, body) !== field.slice(',"mac":"'.length, -2)) return { kind: 'changed' };
  return { kind: 'genuine', fields: JSON.parse(line.toString('utf8')) };
}
