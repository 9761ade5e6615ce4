import { badRequest } from '../api/status.ts';
import { isObject, parseJson } from '../objects/json.ts';

interface Keyed {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}

/** `limit` and `continue` over objects in the order of their keys: the token holds the key after which the next page begins. */
export function pageOf<T extends Keyed>(all: readonly T[], query: URLSearchParams, version: number) {
  const limit = Number(query.get('limit') ?? 0);
  const start = startOf(query.get('continue') ?? '');
  const left = start === '' ? all : all.filter((object) => keyOf(object) > start);
  const page = limit > 0 ? left.slice(0, limit) : left;
  const last = page.at(-1);
  const remainingItemCount = left.length - page.length;
  const token =
    last && remainingItemCount > 0 ? Buffer.from(JSON.stringify({ start: keyOf(last) })).toString('base64url') : '';
  return {
    page,
    metadata: { resourceVersion: String(version), ...(token === '' ? {} : { continue: token, remainingItemCount }) },
  };
}

const keyOf = ({ metadata }: Keyed) => `${metadata.namespace ?? ''}/${metadata.name}`;

function startOf(token: string): string {
  if (token === '') return '';
  try {
    const value = parseJson(Buffer.from(token, 'base64url').toString());
    if (isObject(value) && typeof value.start === 'string') return value.start;
  } catch {
    // Told below: whatever is wrong with a token, the answer is the same.
  }
  throw badRequest('invalid continue token: continue key is not valid');
}
