import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { explain } from '../../src/cli/explain.ts';

const POLICY = new URL('../fixtures/policy/design.yaml', import.meta.url).pathname;
const WHO = ['--channel', 'C0SHOP', '--user', 'U0ROY', '--policy', POLICY];

const directory = mkdtempSync(join(tmpdir(), 'kdebug-explain-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** The same policy with another identity. */
function withIdentity(identity: string): string {
  const path = join(directory, 'policy.yaml');
  writeFileSync(path, readFileSync(POLICY, 'utf8').replace(/^identity:\n(?: {2}.*\n)+/m, `identity: ${identity}\n`));
  return path;
}

function run(...words: readonly string[]) {
  const lines: string[] = [];
  const code = explain(words, (line) => lines.push(line));
  const text = lines.join('\n');
  const json = text.indexOf('\n{');
  return { code, text, container: json < 0 ? undefined : JSON.parse(text.slice(json)) };
}

describe('explain', () => {
  it('says that whom the policy does not map may do nothing, and exits with 1', () => {
    const policy = withIdentity('{ mode: serviceAccount, users: { U0JO: jo } }');
    const { code, text } = run('web-1', '--channel', 'C0SHOP', '--user', 'U0ROY', '--policy', policy);
    expect(code).toBe(1);
    expect(text).toContain('does not map you to a cluster identity');
    expect(text).toMatch(/^acts as {3}nobody: /m);
  });

  it('says place, image, profile, identity, decision and container of what is allowed, and exits with 0', () => {
    const { code, text, container } = run('web-1 --image=debian --no-target -- cat $HOME', ...WHO);
    expect(code).toBe(0);
    expect(text).toMatch(/^command {3}web-1 --no-target --image=debian -- cat/m);
    expect(text).toMatch(/^place {5}cluster prod, namespace shop$/m);
    expect(text).toMatch(/^image {5}debian: debian:12-slim \(observe, command allowed\)$/m);
    expect(text).toMatch(/^profile {3}restricted \(asked: auto\)$/m);
    expect(text).toMatch(/^class {5}observe$/m);
    expect(text).toMatch(
      /^own log {3}a diagnosis reads the lines that say what is wrong .*; in a channel that another company shares nothing$/m,
    );
    expect(text).toMatch(/^acts as {3}slack:U0ROY, group kdebug:C0SHOP$/m);
    expect(text).toMatch(/^decision {2}allowed by rule look$/m);
    expect(container).toMatchObject({
      name: 'kdebug-<id>',
      image: 'debian:12-slim',
      command: ['cat', '$$HOME'],
      env: [
        { name: 'KDEBUG_RUN', value: '<run>' },
        { name: 'KDEBUG_REQUESTER', value: 'U0ROY' },
        { name: 'KDEBUG_NOT_AFTER', value: '<time>' },
        { name: 'KDEBUG_REF', value: '<sealed>' },
      ],
    });
  });

  it('says who must approve, and exits with 0', () => {
    const words = '/kdebug web-1 --image=debugger --target=app --profile=sysadmin --reason="hang" -- gdb -p 1';
    const { code, text, container } = run(words, ...WHO);
    expect(code).toBe(0);
    expect(text).toMatch(/^decision {2}needs approval by rule attach: 1 of sre$/m);
    expect(container).toMatchObject({ targetContainerName: 'app', securityContext: { privileged: true } });
    expect(container.env).toContainEqual({ name: 'KDEBUG_APPROVERS', value: '<approvers>' });
  });

  it('says what raised the class of what is denied', () => {
    const { code, text } = run('web-1 --image=debian -- cat $HOME', ...WHO);
    expect(code).toBe(1);
    expect(text).toMatch(/^class {5}intrusive: a free command that may reach the workload$/m);
    expect(text).toContain('nearest rule: look (class_not_allowed)');
  });

  it.each([
    ['web-1 -n vault', 'denied (namespace_not_allowed)'],
    ['web-1 --image=debain', 'denied (image_not_allowed)'],
    ['web-1 --profile=sysadmin', 'nearest rule: attach (reason_required)'],
    ['web-1 -- ls', 'nearest rule: look (command_not_allowed)'],
    ['web-1 --timeout=31m', 'nearest rule: look (timeout_too_long)'],
    ['-l app=web --replicas=60', 'nearest rule: look (batch_too_large)'],
    ['--all --image=debugger --profile=sysadmin --reason=x', 'nearest rule: attach (batch_not_allowed)'],
  ])('exits with 1 for what is denied, with the code and the rule that came nearest: %s', (command, decision) => {
    const { code, text, container } = run(...WHO, '--', command);
    expect(code).toBe(1);
    expect(text).toContain(decision);
    expect(container).toBeUndefined();
  });

  it('decides for the channel and person that are named', () => {
    const { code, text } = run('web-1', '--channel', 'C0OTHER', '--user', 'U0EVE', '--policy', POLICY);
    expect(code).toBe(1);
    expect(text).toContain('denied (channel_unknown)');
    expect(text).toContain('acts as   slack:U0EVE, group kdebug:C0OTHER');
  });

  it.each([
    ['{ mode: serviceAccount }', "kdebug's own account"],
    ['{ mode: serviceAccount, users: { U0ROY: roy } }', "kdebug's own account, where roy may do the same"],
    ['{ mode: impersonate, user: "{teamId}:{userId}", users: { U0JO: jo } }', 'T0TEAM:U0ROY'],
    ['{ mode: impersonate, user: "slack:{userId}", users: { U0ROY: roy } }', 'roy'],
  ])('says who acts: %s', (identity, who) => {
    const words = ['web-1', '--channel', 'C0SHOP', '--user', 'U0ROY', '--team', 'T0TEAM'];
    const { code, text } = run(...words, '--policy', withIdentity(identity));
    expect([code, text.split('\n').find((line) => line.startsWith('acts as'))]).toEqual([0, `acts as   ${who}`]);
  });

  it('explains a question as what it asks about', () => {
    expect(run('can-i web-1', ...WHO)).toMatchObject({
      code: 0,
      text: expect.stringContaining('allowed by rule look'),
    });
  });

  it('points at the wrong word of a command, and exits with 2', () => {
    expect(run('web-1 --imag=x', ...WHO)).toMatchObject({
      code: 2,
      text: 'web-1 --imag=x\n      ^^^^^^^^\nThere is no flag "--imag".\nDid you mean --image?',
    });
  });

  it.each([
    [['web-1', '--channel', '#shop', '--user', 'U0ROY', '--policy', POLICY], /^usage/],
    [['web-1', '--channel', 'C0SHOP', '--user', 'roy', '--policy', POLICY], /^usage/],
    [['web-1', ...WHO, '--team', 'acme'], /^usage/],
    [['web-1', '--channel', 'C0SHOP', '--user', 'U0ROY'], /^usage/],
    [['web-1', '-- ls', ...WHO], /^usage/],
    [[...WHO], /^usage/],
    [['web-1', ...WHO, '--loud'], /^usage/],
    [['list', ...WHO], /^list debugs no pod/],
    [['web-1', '--channel', 'C0SHOP', '--user', 'U0ROY', '--policy', 'none.yaml'], /cannot be read/],
  ])('exits with 2 for %j', (words, said) => {
    expect(run(...words)).toMatchObject({ code: 2, text: expect.stringMatching(said) });
  });
});
