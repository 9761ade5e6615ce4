/** A line of a log, and the part of it that nobody may see. */
interface SecretLine {
  readonly line: string;
  readonly secret: string;
}

const lineWith = (secret: string, before: string, after = ''): SecretLine => ({
  line: `${before}${secret}${after}`,
  secret,
});

/** A key that no one uses, too short for any curve. */
export const PEM_KEY = [
  '-----BEGIN EC PRIVATE KEY-----',
  'MHcCAQEEIIrYSSNQkdebugattacksuite0000000000000000oAoGCCqGSM49AwEH',
  'oUQDQgAE0000000000kdebugattacksuite000000000000000000000000000000',
  '-----END EC PRIVATE KEY-----',
].join('\n');

/** What the review saw pass the filter (finding 13): made up, each in its usual form, and put together here so that no scanner takes them for real ones. */
export const SECRETS: readonly SecretLine[] = [
  lineWith('s3ss10n-of-ginger-77', 'Cookie: session='),
  lineWith('s3ss10n-of-roy-78', 'Set-Cookie: sid=', '; HttpOnly'),
  lineWith('Tr0ub4dor-and-3', 'PASS='),
  lineWith('Zk3jwtkeyvalue91', 'JWT_KEY='),
  lineWith('base64:c2VjcmV0LWtleS1vZi1hbi1hcHA=', 'APP_KEY='),
  lineWith('hm4ckeyvalue1234', 'HMAC_KEY='),
  lineWith('c0nsumerkeyvalue56', 'CONSUMER_KEY='),
  lineWith('curl-p4ssw0rd-1', 'curl -u admin:', ' https://example.com/'),
  lineWith('mysql-p4ssw0rd-2', 'mysql -uroot -p', ' shop'),
  lineWith('netrc-p4ssw0rd-3', 'machine example.com login roy password '),
  lineWith('pgpass-p4ssw0rd-4', 'db.example.com:5432:shop:roy:'),
  lineWith(`$6$saltsalt$${'h4sh.'.repeat(17)}x`, 'root:', ':19000:0:99999:7:::'),
  lineWith(`$apr1$saltsalt$${'h4sh.'.repeat(4)}ab`, 'admin:'),
  lineWith(`AAF${'x9'.repeat(16)}`, '123456789:'),
  lineWith(`SK${'0123456789abcdef'.repeat(2)}`, 'twilio '),
  lineWith(`key-${'0123456789abcdef'.repeat(2)}`, 'mailgun '),
  lineWith('alter-p4ssw0rd-5', "ALTER USER shop WITH PASSWORD '", "';"),
  lineWith('ident-p4ssw0rd-6', "CREATE USER shop IDENTIFIED BY '", "';"),
  lineWith('/xslash-p4ssw0rd-7', 'DB_PASS='),
  lineWith('the-p4ssw0rd-8', 'password: '),
  lineWith('changed-p4ssw0rd-9', 'password: '),
  lineWith('geheim-p4ssw0rd-10', 'Passwort='),
  lineWith('secreto-p4ssw0rd-11', 'contraseña='),
  { line: 'the-end-of-the-list', secret: '\0' },
];

/** Which of these words are in a text. */
export const found = (text: string, words: readonly string[]): readonly string[] =>
  words.filter((word) => text.includes(word));
