import { expect, it } from 'vitest';
import { MINIMAL, problems } from './policy-text.ts';

it.each<[string, string, string]>([
  ['an unknown key at the top', 'chanels: {}', 'p.yaml:5:1 chanels: is not a key here; did you mean "channels"?'],
  ['a key that is there already', 'version: 1', 'p.yaml:5:1 version: is here twice'],
  ['no list where one belongs', 'output: { redact: x }', 'p.yaml:5:19 output.redact: must be a list'],
  ['an empty section', 'images:', 'p.yaml:5:8 images: must be a map of keys'],
  ['a number that is text', 'limits: { runsPerChannel: "5" }', 'p.yaml:5:27 limits.runsPerChannel: must be a number'],
  ['a number out of range', 'limits: { runsPerChannel: 0 }', 'p.yaml:5:27 limits.runsPerChannel: must be at least 1'],
  [
    'a duration without unit',
    'limits: { maxTimeout: "30" }',
    'p.yaml:5:23 limits.maxTimeout: must be a duration such as 30s, 15m, 2h or 7d',
  ],
  ['a duration that is too long', 'limits: { maxTimeout: 25h }', 'p.yaml:5:23 limits.maxTimeout: must be at most 1d'],
  [
    'a size in decimal units',
    'limits: { maxLogBytes: 5MB }',
    'p.yaml:5:24 limits.maxLogBytes: must be a size such as 512Ki, 100Mi or 2Gi',
  ],
  ['a size that is too large', 'limits: { maxLogBytes: 17Gi }', 'p.yaml:5:24 limits.maxLogBytes: must be at most 16Gi'],
  ['an alias that is not there', 'defaultImage: x', 'p.yaml:5:15 defaultImage: "x" is no alias of images'],
  [
    'a user id that is a name',
    'approvers: { sre: { users: [bob] } }',
    'p.yaml:5:29 approvers.sre.users[0]: must be a Slack user id (U… or W…)',
  ],
  [
    'a user group by name',
    'approvers: { sre: { usergroup: "@sre" } }',
    'p.yaml:5:32 approvers.sre.usergroup: must be a Slack user group id (S…)',
  ],
  [
    'a channel of approvers by name',
    'approvers: { sre: { channel: "#sre" } }',
    'p.yaml:5:30 approvers.sre.channel: must be a Slack channel id (C… or G…)',
  ],
  [
    'a group of nobody knows whom',
    'approvers: { sre: {} }',
    'p.yaml:5:19 approvers.sre: needs a usergroup, users or a channel',
  ],
  ['an image without class', 'images: { a: { image: "a:1" } }', 'p.yaml:5:14 images.a.class: is required'],
  [
    'a reference that is none',
    'images: { a: { image: "a b", class: observe } }',
    'p.yaml:5:23 images.a.image: is not an image reference, such as registry.example.com/a/b:1.2 or …@sha256:…',
  ],
  ...[
    'KDEBUG_RUN',
    'LD_PRELOAD',
    'PATH',
    'PYTHONPATH',
    'NODE_OPTIONS',
    'JAVA_TOOL_OPTIONS',
    'BASH_ENV',
    'OPENSSL_CONF',
    'GLIBC_TUNABLES',
    'XDG_CONFIG_HOME',
  ].map((name): [string, string, string] => [
    `the setting ${name}`,
    `images: { a: { image: "a:1", class: observe, settings: [${name}] } }`,
    'p.yaml:5:57 images.a.settings[0]: belongs to kdebug, or can change which code the image runs',
  ]),
  [
    'a setting in lower case',
    'images: { a: { image: "a:1", class: observe, settings: [net_endpoint] } }',
    'p.yaml:5:57 images.a.settings[0]: a setting is upper-case letters, digits and "_"',
  ],
  [
    'files of an image that is not diagnostic',
    'images: { a: { image: "a:1", class: observe, files: [text] } }',
    'p.yaml:5:53 images.a.files: needs diagnostic: true: kdebug takes files from diagnostic images only',
  ],
  [
    'files of an unknown kind',
    'images: { a: { image: "a:1", class: observe, diagnostic: true, files: [core] } }',
    'p.yaml:5:72 images.a.files[0]: "core" is not allowed; one of: text, profile, capture, heap',
  ],
  [
    'an alias in capitals',
    'images: { A: { image: "a:1", class: observe } }',
    'p.yaml:5:11 images.A: is not a valid key: an alias is lower-case letters, digits, ".", "_" and "-"',
  ],
  [
    'a pattern that is very long',
    `output: { redact: ["${'x'.repeat(513)}"] }`,
    'p.yaml:5:20 output.redact[0]: is too long for a pattern: split it',
  ],
  [
    'a pattern that is none',
    'output: { redact: ["("] }',
    'p.yaml:5:20 output.redact[0]: is not a regular expression (RE2, as in Go): missing closing ), (',
  ],
  [
    'a pattern that looks ahead',
    'output: { redact: ["CUST-\\\\d+(?=;)"] }',
    'p.yaml:5:20 output.redact[0]: looks ahead or behind, which kdebug does not support: match the text around the secret too',
  ],
  [
    'a pattern with a back reference',
    'output: { redact: ["(a+)b\\\\1"] }',
    'p.yaml:5:20 output.redact[0]: has a back reference, which kdebug does not support: write out what may stand there',
  ],
  [
    'a pattern that matches nothing at all',
    'output: { redact: ["a*"] }',
    'p.yaml:5:20 output.redact[0]: matches the empty text, so it would redact everywhere',
  ],
  [
    'patterns that are too much together',
    `output: { redact: [${Array.from({ length: 3 }, () => '"x.{100}y"').join(', ')}] }`,
    'p.yaml:5:19 output.redact: take too long together for each character: lower the bounds of their repeats, write + for them, or join patterns',
  ],
  [
    'a link to a port that cannot be',
    'links: { Logs: "https://logs.example.com:99999/{pod}" }',
    'p.yaml:5:16 links.Logs: is no address: its host or port cannot be',
  ],
  [
    'a link to a host that cannot be',
    'links: { Logs: "https://[logs]/{pod}" }',
    'p.yaml:5:16 links.Logs: is no address: its host or port cannot be',
  ],
  [
    'a link without a label',
    'links: { "\u200b ": "https://logs.example.com/" }',
    'p.yaml:5:8 links: has a label without a visible character',
  ],
  ['an unknown tag', 'defaultImage: !secret x', 'p.yaml:5:15 Unresolved tag: !secret'],
  [
    'a merge key',
    '<<: { version: 1 }',
    'p.yaml:5:1 <<: is not a key here; one of: version, owner, clusters, identity, approvers, images, defaultImage, channels, limits, output, links, alerts',
  ],
])('%s is said', (_, line, problem) => {
  expect(problems(MINIMAL.trimEnd().concat('\n', line, '\n'))).toContain(problem);
});

it('a version of the future is refused', () => {
  expect(problems(MINIMAL.replace('version: 1', 'version: 2'))).toEqual(['p.yaml:1:10 version: must be 1']);
});

it('what is required and missing is said at the place where it belongs', () => {
  expect(problems('version: 1\n')).toEqual(['p.yaml:1:1 clusters: is required', 'p.yaml:1:1 identity: is required']);
});
