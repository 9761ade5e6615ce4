import type { Call } from './call.ts';

/** A `Warning` header (RFC 9111, code 299): kubectl prints it, the answer stays what it is. */
export function warn(call: Call, text: string): void {
  call.response.appendHeader('warning', `299 - ${JSON.stringify(text)}`);
}
