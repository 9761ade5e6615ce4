import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { effectsOf } from '../../../src/core/planning/lint-notes.ts';
import type { ImageAlias, Rule } from '../../../src/core/policy/policy.ts';
import { aPolicy, aRule } from '../../support/builders.ts';

const image = (alias: string, parts: Partial<ImageAlias>): ImageAlias => ({
  alias,
  reference: `${alias}:1`,
  class: 'observe',
  command: 'fixed',
  ...parts,
});
const IMAGES = {
  look: image('look', {}),
  busybox: image('busybox', { command: 'allowed' }),
  debugger: image('debugger', { class: 'elevated', command: 'allowed' }),
};

const said = (parts: Partial<Rule>, images: Record<string, ImageAlias> = IMAGES): string => {
  const policy = aPolicy({ images, channels: { [asChannelId('C0SHOP')]: { name: '#shop-oncall', rules: [] } } });
  return effectsOf(aRule(parts), 'C0SHOP', policy).join('\n');
};

describe('a rule is told by what it gives', () => {
  it('names who, what and where', () => {
    expect(said({}, { look: IMAGES.look })).toBe(
      'anyone in #shop-oncall can run look (each with its own command) in every pod in shop',
    );
    expect(effectsOf(aRule(), 'C0OTHER', aPolicy()).join()).toContain('anyone in C0OTHER');
  });

  it('says that free commands read environment, files and tokens', () => {
    const words = said({ classes: ['observe', 'intrusive'] });
    expect(words).toContain('anyone in #shop-oncall can read the environment, files and tokens of every pod in shop');
    expect(words).toContain('any command of busybox');
    expect(words).not.toContain('debugger');
  });

  it('says that free commands of class observe stay beside the target', () => {
    expect(said({})).toContain('any command of busybox beside every pod in shop, where it cannot see the target');
    expect(said({})).toContain("read and fill the pod's shared memory (/dev/shm)");
    expect(said({ profiles: ['general'] })).not.toContain('any command');
  });

  it('says that elevated is a way to the node, and sysadmin the node', () => {
    const words = said({ classes: ['elevated'], profiles: ['sysadmin'] });
    expect(words).toContain('can take over the node of every pod in shop: any command of busybox or debugger');
    expect(words).toContain('reaches the node, and other pods');
    expect(said({ classes: ['elevated'] })).toContain('read the environment, files and tokens');
  });

  it('says who reads lines of the application, where others read along or where it is more than the chosen ones', () => {
    const shared = (parts: Partial<Rule>): string => {
      const channel = { name: '#with-acme', slackConnect: 'allowed' as const, rules: [] };
      return effectsOf(
        aRule(parts),
        'C0SHOP',
        aPolicy({ images: IMAGES, channels: { [asChannelId('C0SHOP')]: channel } }),
      ).join('\n');
    };
    expect(said({ targetLog: 'tail' })).toContain(
      "can read the newest lines (redacted) of the application's own log in every pod in shop",
    );
    expect(shared({ targetLog: 'errors' })).toContain('own log, as do people of another company, in every pod in shop');
    for (const words of [
      said({}),
      said({ targetLog: 'errors' }),
      said({ targetLog: 'none' }),
      shared({}),
      shared({ targetLog: 'none' }),
    ])
      expect(words).not.toContain('own log');
  });

  it('says which secrets its files may hold, and which images it keeps out for theirs', () => {
    const images = { capture: image('capture', { files: ['text', 'capture', 'heap'] }) };
    expect(said({ secretFiles: 'allowed' }, images)).toContain(
      'anyone in #shop-oncall gets what its network carries and what its memory holds, passwords too, unredacted, by direct message (capture), of every pod in shop',
    );
    expect(said({}, { ...images, look: IMAGES.look })).toContain(
      'it never allows capture, whose files may hold secrets: that needs an approval, or secretFiles: allowed',
    );
    expect(said({}, { look: image('look', { files: ['text'] }) })).not.toContain('secrets');
  });

  it('says which images may seize their target, and which it keeps out because they do', () => {
    const images = { look: IMAGES.look, blackbox: image('blackbox', { class: 'intrusive', traces: true }) };
    const classes = ['observe', 'intrusive'] as const;
    expect(said({ classes, traces: true }, images)).toContain(
      'anyone in #shop-oncall can seize, as a debugger does, the processes of every pod in shop: blackbox',
    );
    expect(said({ classes }, images)).toContain(
      'it never allows blackbox, which seizes its target: that needs traces: true',
    );
    for (const words of [said({}, images), said({ classes }), said({ classes, traces: true })])
      expect(words).not.toContain('seize');
  });

  it('says whose approval it takes', () => {
    const approval = {
      from: ['sre'],
      count: 2,
      expiresMs: 1,
      reason: 'optional',
      voteReason: 'optional',
      grants: 'denied',
    } as const;
    expect(said({ approval })).toContain('anyone in #shop-oncall, with the approval of 2 of sre, can run');
    expect(said({ approval: { ...approval, from: [] } })).toContain('of nobody');
  });
});

describe('what a rule names in vain is said', () => {
  it.each(['netadmin', 'sysadmin'] as const)('the profile %s without the class elevated', (profile) => {
    expect(said({ profiles: [profile] })).toContain(`it never allows the profile ${profile}`);
    expect(said({ profiles: [profile], classes: ['elevated'] })).not.toContain('never allowed');
  });

  it.each(['clusters', 'namespaces', 'classes', 'profiles'] as const)('an empty list of %s', (list) => {
    expect(said({ [list]: [] })).toContain('nobody can use it');
  });

  it('classes that no image fits', () => {
    expect(said({}, { debugger: IMAGES.debugger })).toContain('nobody can use it');
  });
});
