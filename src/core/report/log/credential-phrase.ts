import { matchesIn, type SecretRange, type Span } from './secret-range.ts';

/** Secrets that are known by the words around them: arguments of tools, SQL, and lines of password files. */

interface Phrase {
  /**
   * Its last group is the secret, with which the match ends. Every repeat before it is bounded, so that it takes time
   * linear in the text.
   */
  readonly pattern: RegExp;
  /** The text must hold one of these words; without it the phrase means something else. */
  readonly tool?: RegExp;
  readonly accept?: (secret: string) => boolean;
}

const isTelling = (secret: string): boolean => /\d/.test(secret) && /[a-z]/i.test(secret) && secret.length >= 6;
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
    accept: isTelling,
  },
  // A line of .pgpass: host, port, database, user, password.
  {
    pattern:
      /^(?=[\d.]{0,40}[A-Za-z.*])[\w.*-]{1,128}:(?:\d{2,5}|\*):[A-Za-z*_][^:\s]{0,63}:[A-Za-z*_][^:\s]{0,63}:(\S+)$/g,
  },
];

/** Every phrase above stands in a text with one of these. */
export const PHRASE_ANCHORS: readonly string[] = [
  ...['curl', 'mysql', 'mariadb', 'sshpass', 'redis-cli', 'login ', ' mongo', 'sqlcmd', 'ldapsearch', 'ldapmodify'],
  ...['ldapadd', 'ldapdelete', 'ldapwhoami', '-pass', 'identified', 'passw', 'passphrase', 'passcode', 'pass is'],
  ...['pass was', 'pass to', ':000:', ':0000:', ':00000:', ':*:*:', ':*:a'],
];

function secretIn(match: RegExpExecArray): SecretRange {
  const said = match.at(-1) ?? '';
  const end = match.index + match[0].length;
  return { start: end - said.length + (/^["']/.test(said) ? 1 : 0), end, kind: 'secret' };
}

/** What such phrases give away in the span. */
export function* findPhrases(span: Span): Generator<SecretRange> {
  for (const { tool, pattern, accept = () => true } of PHRASES) {
    if (tool !== undefined && !tool.test(span.text)) continue;
    for (const match of matchesIn(pattern, span)) {
      const secret = secretIn(match);
      if (secret.start < secret.end && accept(span.text.slice(secret.start, secret.end))) yield secret;
    }
  }
}
