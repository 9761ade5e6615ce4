import { describe, expect, it } from 'vitest';
import { MINIMAL, problems } from './policy-text.ts';

it.each(['#shop', 'shop', 'c0shop', 'D0DIRECT', 'U0BOB', 'C', '__proto__', 'constructor', 'C0SHOP '])(
  'a channel under the key %j is refused, with the way to its id',
  (key) => {
    const [problem, ...others] = problems(`${MINIMAL}channels:\n  "${key}": { rules: [] }\n`);
    expect(problem).toContain(`p.yaml:6:3 channels.${key}: is not a valid key: channels are keyed by id (C… or G…)`);
    expect(others).toEqual([]);
  },
);

it.each(['', 'Shop', 'a b', 'x'.repeat(300), '__proto__', '/etc'])('a cluster under the key %j is refused', (key) => {
  const text = MINIMAL.replace('here:', `${JSON.stringify(key)}:`);
  expect(problems(text)).toEqual([expect.stringContaining('is not a valid key: a name is lower-case letters')]);
});

it.each([
  ['{}', 'clusters: must name a cluster'],
  ['{ a: {} }', 'clusters.a: must have either a context of the kubeconfig or inCluster: true'],
  [
    '{ a: { context: x, inCluster: true } }',
    'clusters.a: must have either a context of the kubeconfig or inCluster: true',
  ],
  [
    '{ a: { context: x, default: true }, b: { context: y, default: true } }',
    'clusters.b.default: is the second default',
  ],
])('clusters %s are refused', (clusters, problem) => {
  const text = MINIMAL.replace(/^clusters:\n.*$/m, `clusters: ${clusters}`);
  expect(problems(text)).toEqual([expect.stringContaining(problem)]);
});

it.each([
  ['{ mode: impersonate }', 'identity: needs a user with mode impersonate'],
  ['{ mode: serviceAccount, user: bob }', 'identity.user: has no meaning with mode serviceAccount'],
  ['{ mode: impersonate, user: "system:admin" }', 'identity.user: system: users and groups cannot be impersonated'],
  ['{ mode: impersonate, user: bob, groups: ["System:masters"] }', 'identity.groups[0]: system: users'],
  ['{ mode: impersonate, user: bob, users: { U0BOB: "system:node:a" } }', 'identity.users.U0BOB: system: users'],
  [
    '{ mode: impersonate, user: bob, users: { bob: bob } }',
    'identity.users.bob: is not a valid key: people are keyed by',
  ],
  ['{ mode: impersonate, user: "slack:{name}" }', 'identity.user: knows {userId}, {teamId} and {channelId} only'],
  ['{ mode: impersonate, user: "a\\nb" }', 'identity.user: must be visible characters'],
  ['{ user: bob }', 'identity.mode: is required'],
  ['{ mode: imporsonate, user: bob }', 'identity.mode: "imporsonate" is not allowed; did you mean "impersonate"?'],
])('an identity %s is refused', (identity, problem) => {
  const text = MINIMAL.replace(/^identity: .*$/m, `identity: ${identity}`);
  expect(problems(text)).toEqual([expect.stringContaining(problem)]);
});

it('the same rule id is fine in another channel', () => {
  const channel = '{ rules: [{ id: a, clusters: [], namespaces: [], classes: [], profiles: [] }] }';
  expect(problems(`${MINIMAL}channels:\n  C0SHOP: ${channel}\n  G0PAY: ${channel}\n`)).toEqual([]);
});

it('a timeout of an alias must fit under limits.maxTimeout', () => {
  const image = (timeout: string) => `images: { a: { image: "a:1", class: observe, timeout: ${timeout} } }\n`;
  expect(problems(`${MINIMAL}${image('30m')}`)).toEqual([]);
  expect(problems(`${MINIMAL}${image('31m')}`)).toEqual([
    'p.yaml:5:55 images.a.timeout: is longer than limits.maxTimeout (30m)',
  ]);
  expect(problems(`${MINIMAL}${image('31m')}limits: { maxTimeout: 1h }\n`)).toEqual([]);
});

it('settings and diagnostic exclude command: allowed, because whoever writes the command writes the rest', () => {
  const image = (parts: string) => `images: { a: { image: "a:1", class: observe, ${parts} } }\n`;
  expect(problems(`${MINIMAL}${image('settings: [NET_ENDPOINT], diagnostic: true')}`)).toEqual([]);
  expect(problems(`${MINIMAL}${image('settings: [NET_ENDPOINT], command: allowed')}`)).toEqual([
    'p.yaml:5:56 images.a.settings: excludes command: allowed, which lets people set any variable',
  ]);
  expect(problems(`${MINIMAL}${image('diagnostic: true, command: allowed')}`)).toEqual([
    expect.stringContaining('images.a.diagnostic: excludes command: allowed'),
  ]);
});

describe('an image that seizes its target', () => {
  const images = (...entries: readonly string[]) => problems(`${MINIMAL}images: { ${entries.join(', ')} }\n`);
  const TRACER = 'a: { image: "x/a:1", class: intrusive, traces: true }';

  it('does not only observe', () => {
    expect(images(TRACER)).toEqual([]);
    expect(images('a: { image: "x/a:1", class: observe, traces: true }')).toEqual([
      'p.yaml:5:56 images.a.traces: excludes class: observe: whatever seizes its target stops it for moments',
    ]);
  });

  it('is one under each of its names, however they spell it', () => {
    expect(images(TRACER, 'b: { image: "docker.io/x/a:1", class: observe }')).toEqual([
      'p.yaml:5:78 images.b.image: is also the image of a, which says traces: true: say so here too',
    ]);
    expect(images(TRACER, 'b: { image: "x/a:1", class: elevated, traces: true }')).toEqual([]);
    expect(images(TRACER, 'b: { image: "x/a:2", class: observe }')).toEqual([]);
  });
});

const placed = (channels: string) => problems(`${MINIMAL}channels: ${channels}\n`);

it.each([
  ['{ direct: { members: { users: [U0BOB] }, rules: [] } }', 'channels.direct: needs direct: true'],
  ['{ direct: { direct: true, rules: [] } }', 'channels.direct: needs members'],
  ['{ direct: { direct: true, members: {}, rules: [] } }', 'channels.direct: needs members'],
  ['{ C0SHOP: { direct: true, rules: [] } }', 'channels.C0SHOP.direct: belongs to the entry `direct` only'],
  ['{ C0SHOP: { members: { users: [U0BOB] }, rules: [] } }', 'channels.C0SHOP.members: belongs to the entry'],
])('direct messages are opened only on purpose: %s is refused', (channels, problem) => {
  expect(placed(channels)).toEqual([expect.stringContaining(problem)]);
});

it('direct messages are opened by their own entry, for the people that it names', () => {
  expect(placed('{ direct: { direct: true, members: { usergroup: S0SRE }, rules: [] } }')).toEqual([]);
});
