import { isObject } from '../../../lib/object.ts';

/** Accepts JSON, or a form whose `payload` field may hold JSON. */
export function parseBody(raw: string, contentType: string): Record<string, unknown> | undefined {
  const [type = ''] = contentType.split(';');
  if (type.trim() === 'application/json') return parseObject(raw);
  if (type.trim() !== 'application/x-www-form-urlencoded') return undefined;
  const fields = new URLSearchParams(raw);
  const payload = fields.get('payload');
  return payload === null ? Object.fromEntries(fields) : parseObject(payload);
}

function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
