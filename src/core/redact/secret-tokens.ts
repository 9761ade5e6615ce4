import { ANY, NO_WORD } from './byte-scan.ts';

/**
 * Behind a `$`: no letter, digit or underscore stands before it, nor before a `$` that doubles it. The letter of an
 * escape (`\n` in JSON) is none.
 */
const NOT_IN_A_WORD = '(?<!(?<!\\\\)\\w\\$?\\$)';

/** Behind the kind: a salt, and 20 characters or more with a digit among them, which no name of a class is likely to be. */
const SALT_AND_HASH = '(?=\\$[./\\w=]{1,40}\\$[./A-Za-z]{0,19}\\d)(?=\\$[./\\w=]{1,40}\\$[./\\w]{20})';

/** Secrets that are recognised by their own shape. */
export interface TokenRule {
  readonly kind: string;
  /** Every match contains one of these (see `createAnchorScan`). */
  readonly anchors: readonly string[];
  /**
   * No capture groups. Must be linear in the text: after its first literal either bounded, or certain to match to the
   * end of the run of characters it reads, and then judged by `accept`.
   */
  readonly pattern: string;
  readonly accept?: (match: string) => boolean;
}

const hasDigit = (match: string): boolean => /\d/.test(match);
const isMixed = (match: string): boolean => hasDigit(match) && /[A-Z]/.test(match);

function isJwt(match: string): boolean {
  const [header = '', payload = ''] = match.split('.');
  return header.length >= 8 && payload.length >= 4;
}

function isBasicCredential(match: string): boolean {
  const decoded = Buffer.from(match.replace(/^basic +/i, ''), 'base64').toString('latin1');
  // The user's name holds no colon (RFC 7617), so there is only one way to split.
  return /^[\x20-\x39\x3b-\x7e\x80-\xff]*:[\x20-\x7e\x80-\xff]*$/.test(decoded);
}

const caseless = (word: string): string => [...word].map((letter) => `[${letter.toUpperCase()}${letter}]`).join('');

/** The first of two rules with the same beginning wins. Formats as documented by their issuers. */
export const TOKEN_RULES: readonly TokenRule[] = [
  { kind: 'aws-key', anchors: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], pattern: '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}' },
  { kind: 'gcp-key', anchors: ['AIza'], pattern: 'AIza[\\w-]{35}' },
  { kind: 'gcp-key', anchors: ['ya29.', 'GOCSPX-'], pattern: '(?:ya29\\.|GOCSPX-)[\\w-]{20,}' },
  { kind: 'azure-key', anchors: [`7Q~${ANY}`, `8Q~${ANY}`], pattern: '[\\w~.-]{3}[78]Q~[\\w~.-]{31,}' },
  { kind: 'azure-key', anchors: ['sig='], pattern: '[?&;]sig=[\\w%+/=-]{20,}' },
  { kind: 'registry-auth', anchors: ['eyJhdXRocyI6'], pattern: 'eyJhdXRocyI6[\\w+/=-]+' },
  // JSON Web Tokens: Kubernetes service-account tokens, OIDC, many sessions.
  { kind: 'jwt', anchors: [`eyJ${ANY}`], pattern: 'eyJ[\\w-]*(?:\\.[\\w-]*){0,4}', accept: isJwt },
  {
    kind: 'authorization',
    anchors: ['bearer '],
    pattern: `${caseless('bearer')} +[\\w.~+/-]{12,}=*`,
    accept: hasDigit,
  },
  {
    kind: 'authorization',
    anchors: ['basic '],
    pattern: `${caseless('basic')} +[\\w+/-]{8,}=*`,
    accept: isBasicCredential,
  },
  {
    kind: 'slack-token',
    anchors: ['xoxa', 'xoxb', 'xoxe', 'xoxo', 'xoxp', 'xoxr', 'xoxs', 'xoxc', 'xoxd', 'xapp'],
    pattern: '(?:xox[abceoprsd]|xapp)[-.][\\w.%-]{10,}',
  },
  {
    kind: 'slack-webhook',
    anchors: ['hooks.slack'],
    pattern: 'hooks\\.slack[\\w.-]{0,16}/(?:services|workflows|triggers)/[\\w/+-]{10,}',
  },
  { kind: 'github-token', anchors: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], pattern: 'gh[pousr]_[A-Za-z0-9]{30,}' },
  { kind: 'github-token', anchors: ['github_pat_'], pattern: 'github_pat_\\w{20,}' },
  {
    kind: 'gitlab-token',
    anchors: ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glimt-', 'glagent-', 'gloas-', 'glsoat-'],
    pattern: 'gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-[\\w.-]{18,}',
  },
  { kind: 'api-key', anchors: ['_live_', '_test_'], pattern: '(?:sk|rk|pk|whsec)_(?:live|test)_\\w{10,}' },
  { kind: 'api-key', anchors: [`${NO_WORD}sk-`], pattern: 'sk-(?<![A-Za-z0-9]sk-)[\\w-]{20,}', accept: isMixed },
  { kind: 'api-key', anchors: ['npm_'], pattern: 'npm_[A-Za-z0-9]{36}' },
  { kind: 'api-key', anchors: ['pypi-AgE'], pattern: 'pypi-AgE[\\w-]{16,}' },
  { kind: 'api-key', anchors: [`SG.${ANY}`], pattern: 'SG\\.[\\w-]{16,}\\.[\\w-]{16,}' },
  { kind: 'api-key', anchors: ['hvs.', 'hvb.', 'hvr.'], pattern: 'hv[sbr]\\.[\\w-]{20,}' },
  { kind: 'api-key', anchors: [`${NO_WORD}sk${ANY}`], pattern: 'SK(?<![A-Za-z0-9]SK)[0-9a-f]{32}' },
  { kind: 'api-key', anchors: ['key-'], pattern: 'key-(?<![A-Za-z0-9]key-)[0-9a-f]{32}' },
  { kind: 'api-key', anchors: [`:AA${ANY}`], pattern: '\\d{8,10}:AA[\\w-]{32,}' },
  {
    kind: 'discord-webhook',
    anchors: ['discord'],
    pattern: 'discord(?:app)?\\.com/api/(?:v\\d+/)?webhooks/\\d{10,20}/[\\w-]{20,}',
  },
  // crypt(3) and Apache's: /etc/shadow, htpasswd, password columns. Not `Shop$1$$Lambda$116/0x…`, a class of Java.
  {
    kind: 'password-hash',
    anchors: ['$0$', '$00$', '$a$', '$y$', '$0a$', '$0b$', '$0y$', '$gy$', '$apr', '$argon', '$scrypt', '$pbkdf'].map(
      (mark) => `${mark}${ANY}`,
    ),
    pattern: `\\$(?:${NOT_IN_A_WORD}(?:[156y]|2[abxy]?)|(?:[156y]|2[abxy]?)${SALT_AND_HASH}|sha1|gy|apr1|argon2\\w{1,2}|scrypt|pbkdf2[\\w-]{0,16})\\$[^\\s:"'\`,;<>]{8,}`,
  },
  { kind: 'password-hash', anchors: ['sha}', 'sha000}'], pattern: '\\{S?SHA(?:256|512)?\\}[\\w+/]{20,}={0,2}' },
  { kind: 'api-key', anchors: [`${NO_WORD}hf_`], pattern: 'hf_(?<![A-Za-z0-9]hf_)[A-Za-z0-9]{34}' },
  {
    kind: 'api-key',
    anchors: ['shpat_', 'shpca_', 'shppa_', 'shpss_'],
    pattern: 'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}',
  },
  { kind: 'api-key', anchors: ['dapi'], pattern: 'dapi(?<![A-Za-z0-9]dapi)[0-9a-f]{32}' },
  {
    kind: 'api-key',
    anchors: ['dp.pt.', 'dp.ct.', 'dp.st.', 'dp.sa.', 'dp.scim.', 'dp.audit.'],
    pattern: 'dp\\.(?:pt|ct|st|sa|scim|audit)\\.[\\w.-]{40,}',
  },
  { kind: 'api-key', anchors: ['glsa_'], pattern: 'glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}' },
  { kind: 'api-key', anchors: ['lin_api_', 'lin_oauth_'], pattern: 'lin_(?:api|oauth)_[A-Za-z0-9]{40,}' },
  { kind: 'api-key', anchors: ['figd_', 'sntrys_'], pattern: '(?:figd|sntrys)_[\\w+/=-]{40,}' },
  { kind: 'api-key', anchors: [`${NO_WORD}gsk_`], pattern: 'gsk_(?<![A-Za-z0-9]gsk_)[A-Za-z0-9]{40,}' },
  { kind: 'api-key', anchors: ['sbp_', 'rubygems_'], pattern: '(?:sbp|rubygems)_[0-9a-f]{40,}' },
  { kind: 'api-key', anchors: ['.atlasv1.'], pattern: '[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{40,}' },
  { kind: 'private-key', anchors: ['age-secret-key'], pattern: 'AGE-SECRET-KEY-1[A-Z0-9]{58}' },
  { kind: 'authorization', anchors: ['ssws '], pattern: 'SSWS +00[\\w-]{40}' },
  { kind: 'api-key', anchors: ['dckr_pat_', 'dop_v1_', 'doo_v1_'], pattern: '(?:dckr_pat_|do[op]_v1_)[\\w-]{20,}' },
];

/** All rules as one expression: the capture group of a rule is its index plus one. */
export const TOKEN_PATTERN = new RegExp(TOKEN_RULES.map((rule) => `(${rule.pattern})`).join('|'), 'g');

/** The rule whose group matched, if it also accepts the match. */
export function acceptedRule(match: RegExpMatchArray): TokenRule | undefined {
  const rule = TOKEN_RULES.find((_, index) => match[index + 1] !== undefined);
  return rule?.accept === undefined || rule.accept(match[0]) ? rule : undefined;
}
