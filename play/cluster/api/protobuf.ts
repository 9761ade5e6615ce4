/**
 * Reads the few messages that kubectl sends as protobuf. Only strings and nested messages are understood, which is all
 * that access reviews, roles and namespaces have (generated.proto of their API groups).
 */
export type Fields = ReadonlyMap<number, readonly Buffer[]>;

const MAGIC = Buffer.from('k8s\0');
const LENGTH_DELIMITED = 2;

/** The message inside the API's envelope (runtime.Unknown), or nothing when these bytes are none. */
export function openEnvelope(body: Buffer): Fields | undefined {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const raw = fieldsOf(body.subarray(MAGIC.length)).get(2)?.[0];
  return raw && fieldsOf(raw);
}

/** Fields by number. Scalars are skipped; a cut message gives what came before the cut. */
export function fieldsOf(message: Buffer): Fields {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  while (at < message.length) {
    const key = varint(message, at);
    const value = varint(message, key.next);
    const type = key.value & 7;
    if (type !== LENGTH_DELIMITED) {
      if (type !== 0) break;
      at = value.next;
      continue;
    }
    const number = key.value >>> 3;
    const content = message.subarray(value.next, value.next + value.value);
    fields.set(number, [...(fields.get(number) ?? []), content]);
    at = value.next + value.value;
  }
  return fields;
}

/** A repeated nested message. */
export const listOf = (fields: Fields, number: number): readonly Fields[] => (fields.get(number) ?? []).map(fieldsOf);

export const textsOf = (fields: Fields, number: number): readonly string[] =>
  (fields.get(number) ?? []).map((each) => each.toString('utf8'));

export const textOf = (fields: Fields, number: number): string => fields.get(number)?.[0]?.toString('utf8') ?? '';

function varint(bytes: Buffer, from: number): { value: number; next: number } {
  let value = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    value += (byte & 127) * 2 ** (7 * (at - from));
    if (byte < 128) return { value, next: at + 1 };
  }
  return { value: 0, next: bytes.length };
}
