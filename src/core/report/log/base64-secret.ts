import { matchesIn, type SecretRange, type Span } from './secret-range.ts';
import { acceptedRule, TOKEN_PATTERN } from './secret-tokens.ts';
import { findUrlPasswords } from './url-password.ts';

/** Secrets that were encoded in base64 once more, as in a Kubernetes Secret's `data`. */

const RUN = /[A-Za-z0-9+/]{16,}={0,2}/g;
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;

/** What tokens begin with; encoded by themselves they begin with the first whole characters of these. */
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
/** What may stand anywhere in the encoded text: encoded at each of the three alignments, cut to the characters that are sure. */
const ADDRESS = ['Oi8v', 'DovL', 'TovL', 'jovL', 'zovL', '6Ly8', '6Ly9'];
const ARMOR = ['LS0tLS1CRUdJTi', '0tLS0tQkVHSU4g', 'tLS0tLUJFR0lOI'];

/** The characters of base64 that depend on nothing but `prefix`. */
const encoded = (prefix: string): string =>
  Buffer.from(prefix)
    .toString('base64')
    .slice(0, Math.floor((prefix.length * 8) / 6));

export const BASE64_ANCHORS: readonly string[] = [...PREFIXES.map(encoded), ...ADDRESS, ...ARMOR];
const CANDIDATE = new RegExp(BASE64_ANCHORS.map((anchor) => anchor.replace(/[+/]/g, '\\$&')).join('|'));

function kindOf(decoded: string): string | undefined {
  if (PRIVATE_KEY.test(decoded)) return 'private-key';
  const span: Span = { text: decoded, from: 0, to: decoded.length, startsLine: true };
  for (const match of matchesIn(TOKEN_PATTERN, span)) {
    const rule = acceptedRule(match);
    if (rule !== undefined) return rule.kind;
  }
  for (const found of findUrlPasswords(span)) return found.kind;
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
