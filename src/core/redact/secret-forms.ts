import { findNamedValues } from './named-value.ts';
import { matchesIn, type SecretRange, type Span } from './secret-range.ts';
import { acceptedRule, TOKEN_PATTERN } from './secret-tokens.ts';

/** Finds secrets that are encoded in base64 once more, as in the `data` of a Kubernetes Secret. */

const RUN = /[A-Za-z0-9+/]{16,}={0,2}/g;
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;

/** Prefixes of tokens. An encoded token begins with the whole base64 characters of its prefix. */
const PREFIXES = [
  'AKIA',
  'ASIA',
  'AIza',
  'eyJ',
  'ghp_',
  'gho_',
  'ghs_',
  'ghu_',
  'github_pat_',
  'glpat-',
  'xoxb-',
  'xoxp-',
  'xapp-',
  'ya29.',
  'GOCSPX-',
  'sk_live_',
  'npm_',
  'hvs.',
];
/**
 * Pieces that may be anywhere in the encoded text: encoded at each of the three alignments, cut to the characters that
 * are certain.
 */
const ADDRESS = ['Oi8v', 'DovL', 'TovL', 'jovL', 'zovL', '6Ly8', '6Ly9'];
const PASSWORD = ['cGFzc3dvcm', 'Bhc3N3b3Jk', 'wYXNzd29yZ', 'UEFTU1dPUk', 'BBU1NXT1JE', 'QQVNTV09SR'];
const ARMOR = ['LS0tLS1CRUdJTi', '0tLS0tQkVHSU4g', 'tLS0tLUJFR0lOI'];

/** The base64 characters that depend on `prefix` alone. */
const encoded = (prefix: string): string =>
  Buffer.from(prefix)
    .toString('base64')
    .slice(0, Math.floor((prefix.length * 8) / 6));

export const BASE64_ANCHORS: readonly string[] = [...PREFIXES.map(encoded), ...ADDRESS, ...PASSWORD, ...ARMOR];
const CANDIDATE = new RegExp(BASE64_ANCHORS.map((anchor) => anchor.replace(/[+/]/g, '\\$&')).join('|'));

function kindOf(decoded: string): string | undefined {
  if (PRIVATE_KEY.test(decoded)) return 'private-key';
  const span: Span = { text: decoded, from: 0, to: decoded.length, startsLine: true };
  for (const match of matchesIn(TOKEN_PATTERN, span)) {
    const rule = acceptedRule(match);
    if (rule !== undefined) return rule.kind;
  }
  for (const found of findUrlPasswords(span)) return found.kind;
  for (const found of findNamedValues(span)) return found.kind;
  return undefined;
}

/** Runs of base64 in the span whose decoded text holds a secret. */
export function* findBase64Secrets(span: Span): Generator<SecretRange> {
  if (!CANDIDATE.test(span.text)) return;
  for (const match of matchesIn(RUN, span)) {
    if (!CANDIDATE.test(match[0])) continue;
    const kind = kindOf(Buffer.from(match[0], 'base64').toString('latin1'));
    if (kind !== undefined) yield { start: match.index, end: match.index + match[0].length, kind };
  }
}

/** Reads from `://` to the end of the word at once, so that no character is read twice. */
const FROM_AUTHORITY = /:\/\/[^\s"'<>`\\]*/g;
/** A host's port follows `host:` if there is no password. */
const PORT = /^\d{1,5}(?:[/?#,)\]};]|$)/;
const MAX_USER_LENGTH = 256;
const MIN_BARE_TOKEN_LENGTH = 20;

function credentialIn(word: string, start: number, at: number): SecretRange | undefined {
  const authority = word.slice(start, Math.min(at, start + MAX_USER_LENGTH));
  const userEnd = authority.search(/[/?#@:[]/);
  if (userEnd === -1 || authority[userEnd] === '@') {
    // Another `@` further on, as of an image behind the address, does not make it a password.
    const end = userEnd === -1 ? at : start + userEnd;
    const length = end - start;
    const bare = length <= MAX_USER_LENGTH && length >= MIN_BARE_TOKEN_LENGTH && /\d/.test(authority.slice(0, length));
    return bare ? { start, end, kind: 'url-password' } : undefined;
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

/** `user:password@host/…` in the name of an image, and `user:password@tcp(host:port)/…` as Go spells it: without a scheme. */
const BARE_CREDENTIAL =
  /(?<![^\s"'`=(,{<])[\w.+-]{1,64}:([^\s"'`(,[{<>/]{1,256})@(?:(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?::\d{2,5})?\/|[\w-]{1,63}:\d{2,5}\/|(?:tcp|unix)\()/gi;

/**
 * Passwords in addresses, `scheme://user:password@host` (the user's name stays readable), and long tokens directly
 * before `@`. A password may hold `/` or `@` although an address may not: it ends at the last `@` unless a port
 * explains the colon.
 */
export function* findUrlPasswords(span: Span): Generator<SecretRange> {
  if (!span.text.includes('@')) return;
  for (const { 0: word, index } of matchesIn(FROM_AUTHORITY, span)) {
    for (const { start, end, kind } of credentialsIn(word)) yield { start: index + start, end: index + end, kind };
  }
  for (const { 0: whole, 1: password = '', index } of matchesIn(BARE_CREDENTIAL, span)) {
    const start = index + whole.indexOf(':') + 1;
    yield { start, end: start + password.length, kind: 'url-password' };
  }
}

/** Finds secrets by the words around them: arguments of tools, SQL, and lines of password files. */

interface Phrase {
  /**
   * Its last group is the secret and ends the match. Every repeat before the secret is bounded, so matching is linear
   * in the text.
   */
  readonly pattern: RegExp;
  /** The text must contain one of these words; without it the phrase means something else. */
  readonly tool?: RegExp;
  readonly accept?: (secret: string) => boolean;
}

/** Letters and digits, so it is hardly a word or a number. */
export const looksLikePassword = (secret: string): boolean =>
  /\d/.test(secret) && /[a-z]/i.test(secret) && secret.length >= 6;
const acceptAny = (): boolean => true;
/** `docker run -u 1000:1000` names a user and a group. */
const isNoNumber = (secret: string): boolean => !/^\d{1,7}$/.test(secret);

const ARGUMENT = `["']?([^\\s"'-][^\\s"']*)`;

const PHRASES: readonly Phrase[] = [
  {
    tool: /curl\b/i,
    pattern: /\s-(?:[a-zA-Z]{0,8}[uU]|-(?:proxy-)?user)[ =]{0,4}["']?[^\s:"']{0,64}:([^\s"']+)/g,
    accept: isNoNumber,
  },
  { tool: /(?:mysql|mariadb)/i, pattern: new RegExp(`\\s-p${ARGUMENT}`, 'g') },
  { tool: /sshpass\b/i, pattern: new RegExp(`\\s-p ?${ARGUMENT}`, 'g') },
  { tool: /redis-cli\b/i, pattern: new RegExp(`\\s-a ?${ARGUMENT}`, 'g') },
  { tool: /\s(?:login|mongo\w{0,8})\s/i, pattern: new RegExp(`\\s-p ${ARGUMENT}`, 'g'), accept: isNoNumber },
  { tool: /sqlcmd\b/i, pattern: new RegExp(`\\s-P ?${ARGUMENT}`, 'g') },
  { tool: /ldap(?:search|modify|add|delete|whoami)\b/i, pattern: new RegExp(`\\s-w ?${ARGUMENT}`, 'g') },
  { pattern: /\s-pass(?:in|out)?[ =]pass:([^\s"']+)/g },
  {
    pattern:
      /(?:identified(?:\s{1,4}with\s{1,4}\S{1,64})?\s{1,4}by|password)(?:\s{1,4}password)?(?:\s{1,4}|\s{0,4}\(\s{0,4})('[^']*|"[^"]*)/gi,
  },
  { pattern: /login\s{1,4}\S{1,128}\s{1,4}password\s{1,4}(\S+)/gi },
  { pattern: /^\s{0,16}password\s{1,16}(\S+)\s{0,4}$/gi, accept: (secret) => !/^[a-z.!,]+$/.test(secret) },
  {
    pattern: /pass(?:word|phrase|code)?\s{1,4}(?:is|was|to)\s{1,4}(?:now\s)?["']?([^\s"']+)/gi,
    accept: looksLikePassword,
  },
  // `('password', 'X')`, `["DB_PASSWORD", "X"]`: a pair, and no list of names.
  {
    pattern:
      /[([]\s{0,4}[bru]?["'][\w.-]{0,64}(?:passw(?:or)?d|passphrase|secret|token|credentials?|_pass|api[-_]?key)["']\s{0,4},\s{0,4}[bru]?["']([^"']{4,512})(?=["'],?\s{0,4}[)\]])/gi,
  },
  // A line of .pgpass: host, port, database, user, password.
  {
    pattern:
      /^(?=[\d.]{0,40}[A-Za-z.*])[\w.*-]{1,128}:(?:\d{2,5}|\*):[A-Za-z*_][^:\s]{0,63}:[A-Za-z*_][^:\s]{0,63}:(\S+)$/g,
  },
];

/** Every phrase above occurs only in a text with one of these. */
export const PHRASE_ANCHORS: readonly string[] = [
  ...['curl', 'mysql', 'mariadb', 'sshpass', 'redis-cli', 'login ', ' mongo', 'sqlcmd', 'ldapsearch', 'ldapmodify'],
  ...['ldapadd', 'ldapdelete', 'ldapwhoami', '-pass', 'identified', 'passw', 'passphrase', 'passcode', 'pass is'],
  ...['secret', 'token', 'credential', '_pass', 'apikey', 'api_key'],
  ...['pass was', 'pass to', ':000:', ':0000:', ':00000:', ':*:*:', ':*:a'],
];

function secretIn(match: RegExpExecArray): SecretRange {
  const secret = match.at(-1) ?? '';
  const end = match.index + match[0].length;
  return { start: end - secret.length + (/^["']/.test(secret) ? 1 : 0), end, kind: 'secret' };
}

/** The secrets in such phrases in the span. */
export function* findPhrases(span: Span): Generator<SecretRange> {
  for (const { tool, pattern, accept = acceptAny } of PHRASES) {
    if (tool !== undefined && !tool.test(span.text)) continue;
    for (const match of matchesIn(pattern, span)) {
      const secret = secretIn(match);
      if (secret.start < secret.end && accept(span.text.slice(secret.start, secret.end))) yield secret;
    }
  }
}
