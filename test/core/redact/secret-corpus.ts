/** Secrets for tests. None is real; they are put together here so that no scanner takes this file for a leak. */

export interface Sample {
  readonly name: string;
  readonly log: string;
  /** Must not be in the result. */
  readonly secret: string;
  readonly kind: string;
}

const repeat = (text: string, length: number): string => text.repeat(Math.ceil(length / text.length)).slice(0, length);
const mixed = (length: number): string => repeat('aB3dE5gH7jK9mN1pQ', length);
const upper = (length: number): string => repeat('IOSFODNN7EXAMPLE2Q', length);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

export const AWS_KEY = `AK${'IA'}${upper(16)}`;
export const JWT = `${base64url('{"alg":"RS256","kid":"k1"}')}.${base64url('{"iss":"kubernetes/serviceaccount","sub":"system:serviceaccount:shop:web"}')}.${mixed(43)}`;
export const GITHUB_TOKEN = `gh${'p_'}${mixed(36)}`;
const SLACK_TOKEN = `xo${'xb'}-123456789012-1234567890123-${mixed(24)}`;
const PEM_BODY = Array.from({ length: 6 }, (_, line) => repeat(`MIIEow${line}BAAKCAQEA/z+`, 64)).join('\n');
const PEM = `-----BEGIN RSA ${'PRIVATE'} KEY-----\n${PEM_BODY}\nAb3=\n-----END RSA ${'PRIVATE'} KEY-----`;

const of = (name: string, kind: string, secret: string, log = `found ${secret} here`): Sample => ({
  name,
  kind,
  secret,
  log,
});
const named = (name: string, log: string, secret = 'hunter2!x'): Sample => ({ name, kind: 'secret', secret, log });

const TOKENS: readonly Sample[] = [
  of('AWS access key', 'aws-key', AWS_KEY),
  of('GCP API key', 'gcp-key', `AI${'za'}${mixed(35)}`),
  of('GCP OAuth token', 'gcp-key', `ya${'29'}.a0${mixed(40)}`),
  of('Azure client secret', 'azure-key', `abc8${'Q~'}${mixed(34)}`),
  of('Azure SAS signature', 'azure-key', `${mixed(43)}%3D`, `GET /c/b?sv=2022&sig=${mixed(43)}%3D&se=1`),
  of('JSON Web Token', 'jwt', JWT),
  of('Slack bot token', 'slack-token', SLACK_TOKEN),
  of('Slack app token', 'slack-token', `xa${'pp'}-1-A0123-456-${mixed(40)}`),
  of(
    'Slack webhook',
    'slack-webhook',
    `T0000/B0000/${mixed(24)}`,
    `to https://hooks.${'slack'}.com/services/T0000/B0000/${mixed(24)}`,
  ),
  of('GitHub token', 'github-token', GITHUB_TOKEN),
  of('GitHub fine-grained token', 'github-token', `github_${'pat_'}${mixed(22)}_${mixed(40)}`),
  of('GitLab token', 'gitlab-token', `gl${'pat'}-${mixed(20)}`),
  of('Stripe key', 'api-key', `sk_${'live_'}${mixed(24)}`),
  of('model provider key', 'api-key', `s${'k-'}proj-${mixed(40)}`),
  of('npm token', 'api-key', `np${'m_'}${mixed(36)}`),
  of('Vault token', 'api-key', `hv${'s.'}${mixed(28)}`),
  of('Hugging Face token', 'api-key', `h${'f_'}${mixed(34)}`),
  of('Shopify token', 'api-key', `shp${'at_'}${repeat('0a1b2c3d4e5f', 32)}`),
  of('Databricks token', 'api-key', `da${'pi'}${repeat('0a1b2c3d4e5f', 32)}-2`),
  of('Doppler token', 'api-key', `dp.${'pt.'}${mixed(43)}`),
  of('Grafana service account token', 'api-key', `gl${'sa_'}${mixed(32)}_0a1b2c3d`),
  of('Linear key', 'api-key', `lin_${'api_'}${mixed(40)}`),
  of('age identity', 'private-key', `AGE-SECRET-${'KEY-1'}${repeat('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`),
  of('Okta token', 'authorization', `00${mixed(40)}`, `sent SSWS ${'00'}${mixed(40)}`),
  of('password in base64', 'secret', base64('password=hunter2!x')),
  of('password in base64, further on', 'secret', base64('user=x&DB_PASSWORD=hunter2!x')),
  of('registry auth', 'registry-auth', base64('{"auths":{"registry":{"auth":"dXNlcjpwYXNz"}}}')),
];

const AUTHORIZATION: readonly Sample[] = [
  of('bearer header', 'authorization', 'opaque-abc.def', `> Authorization: Bearer ${'opaque-abc.def'}`),
  of('basic header', 'authorization', base64('admin:hunter2'), `authorization: Basic ${base64('admin:hunter2')}`),
  of('bearer in JSON', 'authorization', 'tok_123456', '{"headers":{"Authorization":"Bearer tok_123456"}}'),
  of('bearer by itself', 'authorization', mixed(20), `using bearer ${mixed(20)} for pull`),
  of('basic by itself', 'authorization', base64('admin:hunter2'), `sent Basic ${base64('admin:hunter2')} upstream`),
  of('curl header', 'authorization', 'abcdef1234', `curl -H 'Authorization: token abcdef1234' http://x`),
];

const URLS: readonly Sample[] = [
  of('database address', 'url-password', 'hunter2', 'dial postgres://app:hunter2@db.shop:5432/orders'),
  of('password with marks', 'url-password', 'p/w@1', 'redis://default:p/w@1@cache:6379/0'),
  of('address without user', 'url-password', 'hunter2', 'redis://:hunter2@cache:6379'),
  of('second address of a word', 'url-password', 'hunter2', 'http://proxy/x?to=http://u:hunter2@h/'),
  of('token as user', 'url-password', mixed(32), `cloning https://${mixed(32)}@git.example.com/a/b`),
];

const NAMED: readonly Sample[] = [
  named('key=value', 'connecting user=app password=hunter2!x retry=3'),
  named('escaped in an address', 'GET /login?next=%2Fa%3Fpassword%3Dhunter2!x'),
  named('escaped in an address, small', 'redirect=app%3ftoken%3dhunter2!x'),
  named('environment line', 'DB_PASSWORD=hunter2!x'),
  named('environment line with marks', 'DB_PASSWORD=hunter2&x;y,z', 'hunter2&x;y,z'),
  named('export', 'export API_KEY="hunter2!x"'),
  named('JSON', '{"user":"app","password":"hunter2!x","n":1}'),
  named('JSON with an escaped quote', '{"clientSecret":"hun\\"ter2!x"}', 'ter2!x'),
  named('JSON inside a JSON string', '{"msg":"{\\"password\\":\\"hunter2!x\\"}"}'),
  named('YAML', '  password: hunter2!x'),
  named('YAML with spaces in the value', 'spring.datasource.password: correct horse battery', 'horse battery'),
  named('mid-line mark', 'f(user=x, password=hun,ter2!x, n=1)', 'ter2!x'),
  named('query', 'GET /login?token=hunter2!x&user=a'),
  named('connection string', 'Server=db;AccountKey=hunter2!x==;Database=x', 'hunter2!x=='),
  named('flag', 'run --password hunter2!x --verbose'),
  named('flag with =', 'run --auth-token=hunter2!x'),
  named('XML', '<password>hunter2!x</password>'),
  named('Ruby hash', ':secret_key_base=>"hunter2!x"'),
  named('env entry on one line', '{"name":"DB_PASSWORD","value":"hunter2!x"}'),
  named('env entry on two lines', '- name: DB_PASSWORD\n  value: hunter2!x\n- name: OTHER'),
  named('YAML block', 'apiKey: |\n  hunter2!x\nnext: 1'),
  named('AWS secret key', `aws_secret_access_key = ${mixed(40)}`, mixed(40)),
  named('Go struct', '{User:app Password:hunter2!x}'),
  named('pass suffix', 'SMTP_PASS=hunter2!x'),
];

/** Words of a secret with something behind them, which still name a secret. */
export const ENDED: readonly Sample[] = [
  'pwd',
  'DB_PASS',
  'PASS',
  'password',
  'token',
  'API_KEY',
  'HMAC_KEY',
  'cookie',
].flatMap((name) =>
  ['1', '2', '12', 'v2', '_2', '-1', '_old', 'New', '.value', 'Hash'].map((ending) =>
    named(`${name}${ending}`, `${name}${ending}=${mixed(24)}`, mixed(24)),
  ),
);
const NUMBERED: readonly Sample[] = [
  named('pwd2', 'user=app pwd2=hunter2!x retry=3'),
  named('pass1 in JSON', '{"pass1":"hunter2!x"}'),
  named('numbered YAML block', 'password2: |\n  hunter2!x\nnext: 1'),
  named('numbered env entry', '- name: DB_PASSWORD2\n  value: hunter2!x'),
];

const KEYS: readonly Sample[] = [
  of('private key over lines', 'private-key', PEM_BODY.slice(70, 120), `key:\n${PEM}\nafter`),
  of('private key in JSON', 'private-key', PEM_BODY.slice(70, 120), `{"k":"${PEM.replaceAll('\n', '\\n')}","z":1}`),
  of('private key behind prefixes', 'private-key', PEM_BODY.slice(70, 120), PEM.replace(/^/gm, '2024-05-01 out: ')),
  of('encrypted private key', 'private-key', PEM_BODY.slice(0, 60), PEM.replaceAll('RSA', 'ENCRYPTED')),
];

const ENCODED: readonly Sample[] = [
  of('AWS key in base64', 'aws-key', base64(AWS_KEY)),
  of('JWT in base64', 'jwt', base64(JWT)),
  of('private key in base64', 'private-key', base64(PEM)),
  of('address in base64', 'url-password', base64('postgres://app:hunter2@db/x')),
  of('address in base64, other alignment', 'url-password', base64('mysql://app:hunter2@db/x')),
  of('address in base64, third alignment', 'url-password', base64('https://app:hunter2@db/x')),
  of('Slack token in base64', 'slack-token', base64(SLACK_TOKEN)),
  of('GitHub token in base64', 'github-token', base64(GITHUB_TOKEN)),
];

const PASSWORDS: readonly Sample[] = [
  named('cookies', 'Cookie: sid=hunter2!x; theme=dark'),
  named('cookie with a space', 'Cookie : sid=hunter2!x; theme=dark'),
  named('cookie in properties', 'cookie = sid=hunter2!x'),
  of('a key in properties', 'secret', 'a1B2c3D4e5F6g7H8i9', 'db_key = a1B2c3D4e5F6g7H8i9'),
  named('set cookie', 'Set-Cookie: sid=hunter2!x; Path=/; HttpOnly'),
  named('cookie in JSON', '{"Cookie":"sid=hunter2!x"}'),
  named('PASS=', 'PASS=hunter2!x'),
  named('a password that begins like a path', 'DB_PASS=/xhunter2', '/xhunter2'),
  named('another password that begins like a path', 'DB_PWD=/xhunter2', '/xhunter2'),
  named('JWT_KEY', `JWT_KEY=${mixed(24)}`, mixed(24)),
  named('APP_KEY', `APP_KEY=base64:${mixed(43)}=`, mixed(43)),
  named('HMAC_KEY', `HMAC_KEY: ${mixed(32)}`, mixed(32)),
  named('HMAC_KEY in lower case', 'HMAC_KEY=hm4ckeyvalue1234', 'hm4ckeyvalue1234'),
  named('CONSUMER_KEY', `"CONSUMER_KEY":"${mixed(25)}"`, mixed(25)),
  named('a key in hexadecimal', `DATADOG_KEY=${'0f3a9c'.repeat(6)}`, '0f3a9c0f3a9c'),
  named('curl -u', 'curl -u app:hunter2!x https://example.com'),
  named('curl with joined flags', "curl -sSu 'app:hunter2!x' https://example.com"),
  named('curl --user', 'curl --user=app:hunter2!x https://example.com'),
  named('mysql -p', 'mysql -h db -uroot -phunter2!x shop'),
  named('mysqldump -p', "mysqldump -p'hunter2!x' shop"),
  named('sshpass', 'sshpass -p hunter2!x ssh app@host'),
  named('redis-cli', 'redis-cli -h cache -a hunter2!x ping'),
  named('docker login', 'docker login -u app -p hunter2!x registry.example.com'),
  named('netrc on one line', 'machine git.example.com login app password hunter2!x'),
  named('netrc over lines', 'machine git.example.com\nlogin app\npassword hunter2!x\n'),
  named('pgpass', 'db.shop:5432:orders:app:hunter2!x'),
  named('pgpass with stars', '*:*:*:app:hunter2!x'),
  named('ALTER USER', "ALTER USER app WITH ENCRYPTED PASSWORD 'hunter2!x';"),
  named('IDENTIFIED BY', "CREATE USER 'app'@'%' IDENTIFIED BY 'hunter2!x';"),
  named('IDENTIFIED WITH', "ALTER USER app IDENTIFIED WITH caching_sha2_password BY 'hunter2!x'"),
  named('SET PASSWORD', "SET PASSWORD FOR app = PASSWORD('hunter2!x')"),
  named('a password that begins like prose', 'password: the-hunter2', 'the-hunter2'),
  named('another password that begins like prose', 'password: changed-hunter2', 'changed-hunter2'),
  named('a password that is told', 'the password is hunter2!x'),
  named('German', 'Passwort=hunter2!x'),
  named('Spanish', 'contrase\u00f1a=hunter2!x'),
  named('full-width letters', 'ｐａｓｓｗｏｒｄ＝hunter2!x'),
  named('Cyrillic letters', 'p\u0430ssw\u043erd=hunter2!x'),
  of('shadow', 'password-hash', mixed(40), `app:$6$${mixed(8)}$${mixed(40)}:19000:0:99999:7:::`),
  of('bcrypt', 'password-hash', mixed(53), `app:$2y$10$${mixed(53)}`),
  of('Apache MD5', 'password-hash', mixed(22), `app:$apr1$${mixed(8)}$${mixed(22)}`),
  of('MD5 at the start of a line', 'password-hash', mixed(22), `$1$${mixed(8)}$${mixed(22)}`),
  of('a hash in YAML', 'password-hash', mixed(43), `  - '$5$${mixed(8)}$${mixed(43)}'`),
  of('a hash in JSON', 'password-hash', mixed(40), `{"root":"$6$${mixed(8)}$${mixed(40)}","n":1}`),
  of('a hash on a line of a file in JSON', 'password-hash', mixed(22), `{"a":"x\\n$apr1$${mixed(8)}$${mixed(22)}\\n"}`),
  of('yescrypt behind an equals sign', 'password-hash', mixed(43), `users=$y$j9T$${mixed(22)}$${mixed(43)}`),
  of('a hash with doubled dollars', 'password-hash', mixed(22), `auth.users=bob:$$apr1$$${mixed(8)}$$${mixed(22)}`),
  of('Apache SHA', 'password-hash', `${mixed(27)}=`, `app:{SHA}${mixed(27)}=`),
  of('Telegram', 'api-key', `AA${mixed(33)}`, `using bot123456789:AA${mixed(33)} now`),
  of(
    'Discord webhook',
    'discord-webhook',
    mixed(60),
    `https://discord.com/api/webhooks/123456789012345678/${mixed(60)}`,
  ),
  of('Twilio', 'api-key', `S${'K'}${'0f3a9c1d'.repeat(4)}`),
  named('quoted JSON in CSV', '7,"{""password"":""hunter2!x""}",ok'),
  named('three quotes on one line', 'password = """hunter2!x"""'),
  named('three single quotes', "password = '''hunter2!x'''"),
  named('JSON in an address', 'GET /login?body=%7B%22password%22%3A%22hunter2!x%22%7D'),
  named('JSON in a page', '<pre>{&quot;password&quot;: &quot;hunter2!x&quot;}</pre>'),
  named('an equals sign in a page', '<td>password&#61;hunter2!x</td>'),
  of('Doppler service account', 'api-key', `dp.sa.${mixed(43)}`),
  of('Linear OAuth', 'api-key', `lin_${'oauth_'}${mixed(64)}`),
  of('Figma', 'api-key', `fig${'d_'}${mixed(40)}`),
  of('Sentry', 'api-key', `sntry${'s_'}${mixed(60)}`),
  of('Groq', 'api-key', `gs${'k_'}${mixed(52)}`),
  of('Supabase', 'api-key', `sb${'p_'}${'0f3a9c1d'.repeat(5)}`),
  of('RubyGems', 'api-key', `rubygem${'s_'}${'0f3a9c1d'.repeat(6)}`),
  of('Terraform Cloud', 'api-key', `${mixed(14)}.${'atlasv1'}.${mixed(64)}`),
  of('Mailgun', 'api-key', `ke${'y-'}${'0f3a9c1d'.repeat(4)}`),
];

/** A name ends its line, and the value stands below. */
const BELOW: readonly Sample[] = [
  named('value below its key', 'db:\n  DB_PASSWORD:\n    hunter2!x\nnext: 1'),
  named('quoted value below its key', '"password":\n  "hunter2!x",'),
  named('words below their key', 'passphrase:\n  correct horse battery', 'horse battery'),
  named('value below a name with a prefix', 'FATAL: DB_PASSWORD:\n  hunter2!x'),
  named('value below a name with a prefix, not indented', 'FATAL: DB_PASSWORD:\nhunter2!x'),
  named('value below an empty line', 'DB_TOKEN:\n\n  hunter2!x'),
  named('list below its key', 'credentials:\n  - hunter2!x'),
  named('value below a sentence', 'the password of the database is:\nhunter2!x'),
  named('value below other words', 'cannot use token for user bob:\n  hunter2!x'),
  named('block below an env entry', '- name: DB_PASSWORD\n  value: |\n    hunter2!x\n- name: OTHER'),
  named('value below an env entry', '- name: DB_PASSWORD\n  value:\n    hunter2!x\n- name: OTHER'),
  named('env entry with a comment', '- name: DB_PASSWORD # db\n  value: hunter2!x'),
  named('env entry with a comment between', '- name: DB_PASSWORD\n  # from vault\n  value: hunter2!x'),
  named('env entry with an empty line between', '- name: DB_PASSWORD\n\n  value: hunter2!x'),
  named('env entry with another key between', '- name: DB_PASSWORD\n  type: text\n  value: hunter2!x'),
  named('env entry behind a level', '[INFO] - name: DB_PASSWORD\n[INFO]   value: hunter2!x'),
  named('JSON entry with spaces', '"name" : "DB_PASSWORD",\n"value" : "hunter2!x"'),
  named('block below a key with a comment', 'password: | # of db\n  hunter2!x'),
  named('block with an indentation', 'password: |2-\n  hunter2!x'),
  named('block of a type', 'password: !!binary |\n  hunter2!x'),
  named('block of a tool', 'token: !vault |\n  hunter2!x'),
  named('block with an anchor', 'token: &a |\n  hunter2!x'),
  named('block below a JSON key', '"password" : |\n  hunter2!x'),
  named('value below a comment', 'DB_PASSWORD:\n  # from vault\n  hunter2!x'),
  named('entry with a key', '- key: DB_PASSWORD\n  value: hunter2!x'),
];

const SHAPES: readonly Sample[] = [
  named('pass in YAML', 'user: app\n  pass: hunter2!x'),
  named('pass in a struct', '{user: app, pass: hunter2!x}'),
  named('pass beside a user', 'login with user: app pass: hunter2!x'),
  named('tuple', "env [('user', 'app'), ('password', 'hunter2!x')]"),
  named('pair of a list', '[ "DB_PASSWORD", "hunter2!x" ]'),
  of(
    'image with a password',
    'url-password',
    'hunter2!x',
    'Failed to pull image "ci:hunter2!x@registry.example/app:1"',
  ),
  of('image with a password and a port', 'url-password', 'hunter2!x', 'image=ci:hunter2!x@registry:5000/app'),
  of('data source name of Go', 'url-password', 'hunter2!x', 'dial root:hunter2!x@tcp(db:3306)/shop'),
];

/** Each spans lines: the last one holds the secret alone. */
export const SPANNING: readonly Sample[] = [...NAMED, ...NUMBERED, ...KEYS, ...BELOW].filter(({ log }) =>
  log.includes('\n'),
);

export const SAMPLES: readonly Sample[] = [
  ...BELOW,
  ...SHAPES,
  ...TOKENS,
  ...AUTHORIZATION,
  ...URLS,
  ...NAMED,
  ...NUMBERED,
  ...KEYS,
  ...ENCODED,
  ...PASSWORDS,
];

/** Lines that hold no secret although they look a little like it. */
export const CLEAN_LINES: readonly string[] = [
  'Invalid token: unexpected end of input',
  'unexpected token: "}" at line 3',
  'password: incorrect for user bob',
  'secretName: shop-tls',
  'Mounted secret "shop/web-tls" at /etc/tls',
  'secret="default/web-tls" reconciled',
  'tokens=512 max_tokens=4096 token_type=bearer',
  'password_file=/run/secrets/db',
  `PASSWORD=\${DB_PASSWORD}`,
  'password=*** user=app',
  'password: ""',
  'id,"password"\n7,""\n8,""',
  'figd_ and sbp_ are prefixes, gsk_x too; x.atlasv1.y is none',
  'token: null',
  'PWD=/app OLDPWD=/home/app',
  'http://localhost:8080/users/bob@example.com',
  'mail from bob@example.com to ann@example.com',
  'http://[::1]:8080/a@b',
  'java.lang.Object@4e25154f in com.example.Foo@1a2b3c',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span=00f067aa0ba902b7',
  'image: registry.example.com/shop/web@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'commit 3f786850e387550fdab836ed7e6dc881de23001b',
  'zone Asia/Tokyo accacia ABIAnother',
  'basic authentication is required; bearer authentication is not',
  'authorization: enabled',
  'Authorization mode: RBAC',
  '{"apiserver.latency.k8s.io/authorization":"41.35µs"}',
  'task-runner sk-web-7d9f8b6c5-x2x4z started',
  '-----BEGIN CERTIFICATE-----',
  'primary key: id, foreign key: user_id',
  'press any key to continue',
  'the private key /etc/tls/tls.key was loaded',
  'private_key=/etc/tls/tls.key',
  'eyJub3QgYSBqd3QiOjF9',
  'uuid 123e4567-e89b-12d3-a456-426614174000',
  'GET /api/v1/namespaces/shop/pods/web-7d9f8?watch=true 200 12ms',
  'std::token::Tokenizer::next()',
  'api key rotated',
  '--- PASS: TestCart (0.01s)',
  'PASS: 12 FAIL: 0',
  'PASS=12 FAIL=0',
  'cookie: missing',
  'Cookie banner shown',
  'primary_key=id partition_key=2024-05-01 routing_key=orders.created.v1',
  'cache_key=user:123:profile',
  'CACHE_KEY=3f786850e387550fdab836ed7e6dc881',
  'object_key=uploads/2024/05/Image1.png',
  'registry_key=HKLM\\Software',
  'docker run -u 1000:1000 busybox',
  'curl -u 1000:1000 and nothing more',
  'curl -s http://localhost:8080/healthz',
  'mysql -h db -P 3306 shop',
  'cp -p a b',
  'the password is wrong',
  'password was changed',
  'PASSWORD expired',
  'src/app.ts:12:34: unexpected end',
  '2024-05-01T12:30:45:abc:def',
  'идёт запрос к базе',
  'ＯＫ ｄｏｎｅ',
  'dapi is a name, hf_hub_download and hf_transfer too',
  'shpat_ and glsa_ are prefixes; lin_api_v2 is none, dp.pt.x neither',
  'SSWS 00 is how the header begins; AGE-SECRET-KEY-1 an identity',
  'pin=13 mode=output',
  `note ${base64('the password was changed by an administrator')}`,
  'q=a%3Db%26c%3Dd GET /search?next=%2Fa%3Fx%3D1',
  'costs $5 or $6 today',
  'at Shop$1$$Lambda$116/0x00007f134512e9c8.run(Unknown Source)',
  'at com.example.Shop$Cart$1$Worker$2$$Lambda/0x00007f134512e9c8.apply(Shop.java:12)',
  'at app//Shop$$anon$5$$anonfun$accept$6.apply(Shop.scala:31)',
  'at Shop_$6$handleAllRequests.invokeSuspend(Shop.kt:9)',
  'skipped 3 of 4',
  'first pass: optimizing',
  'tests: 17 pass: 15 fail: 2 second pass: 12ms',
  'pass: true',
  "missing keys ['password', 'username', 'host']",
  "one of ('password', 'token', 'key') is needed",
  'image app:1.2@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'npm:lodash@4.17.21/index.js',
  'ops:bob@example.com, ann:bob@example.com',
  'key-value store ready',
  'identified by its uid',
  'OLDPWD=/srv PWD=/',
  'PWD2=/srv pwd1=42',
  'pass1=12 pass2=7 pass_3=true',
  'PASS2: 14 of 14 files',
  '--- PASS: TestPass2 (0.01s)',
  'token2: unexpected end of input',
  'password1: incorrect for user bob',
  'max_tokens2=4096 token2_type=bearer',
  'sort_key2=name cache_key_1=user:123:profile hot_key0=orders',
  'cookie2: missing',
  'cookie_1 was set',
  'passport2=valid passthrough=on keypass=7',
  'I0501 10:00:00.000000       1 controller.go:42] "Reconciled" object="shop/web" generation=7',
];

/** Several lines that look a little like a secret over several lines. */
export const CLEAN_TEXTS: readonly string[] = [
  'password:\n  secretKeyRef:\n    name: db\n    key: password',
  'Error: cannot get token:\n    at Object.login (/app/login.js:12:3)',
  'failed to read secret:\n  permission denied',
  'failed to renew the token of bob:\nretrying',
  'invalid password:\n2024-05-01 12:30:45 INFO next',
  'token:\n  enabled: true\n  ttl: 3600',
  'secret:\n  not found',
  'imagePullSecrets:\n- name: registry',
  '- name: DB_HOST\n  value: db.shop',
  '- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: db, key: password}',
];
