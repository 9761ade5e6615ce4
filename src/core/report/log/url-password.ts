import { matchesIn, type SecretRange, type Span } from './secret-range.ts';

/** Reads from `://` to the end of the word in one go, so that no character is looked at twice. */
const FROM_AUTHORITY = /:\/\/[^\s"'<>`\\]*/g;
/** A host's port: what follows `host:` when there is no password. */
const PORT = /^\d{1,5}(?:[/?#,)\]};]|$)/;
const LONGEST_USER = 256;
const SHORTEST_BARE_TOKEN = 20;

function credentialIn(word: string, start: number, at: number): SecretRange | undefined {
  const authority = word.slice(start, Math.min(at, start + LONGEST_USER));
  const userEnd = authority.search(/[/?#@:[]/);
  if (userEnd === -1) {
    const bare = at - start <= LONGEST_USER && at - start >= SHORTEST_BARE_TOKEN && /\d/.test(authority);
    return bare ? { start, end: at, kind: 'url-password' } : undefined;
  }
  if (authority[userEnd] !== ':' || PORT.test(word.slice(start + userEnd + 1, start + userEnd + 7))) return undefined;
  const passwordStart = start + userEnd + 1;
  return passwordStart < at ? { start: passwordStart, end: at, kind: 'url-password' } : undefined;
}

function* credentialsIn(word: string): Generator<SecretRange> {
  const lastAt = word.lastIndexOf('@');
  let next = 0;
  for (let scheme = 0; scheme !== -1 && scheme < lastAt; scheme = next) {
    next = word.indexOf('://', scheme + 3);
    const own = word.slice(scheme, next === -1 ? word.length : next).lastIndexOf('@');
    const credential = credentialIn(word, scheme + 3, own === -1 ? lastAt : scheme + own);
    if (credential !== undefined) yield credential;
  }
}

/**
 * Passwords in addresses, `scheme://user:password@host`, the user's name kept; long tokens that stand alone before `@`.
 * A password may hold `/` or `@` although an address may not: it ends at the last `@` unless a port explains the colon.
 */
export function* findUrlPasswords(span: Span): Generator<SecretRange> {
  if (!span.text.includes('@')) return;
  for (const { 0: word, index } of matchesIn(FROM_AUTHORITY, span)) {
    for (const { start, end, kind } of credentialsIn(word)) yield { start: index + start, end: index + end, kind };
  }
}
