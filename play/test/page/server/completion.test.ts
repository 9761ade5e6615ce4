import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../../../src/config/load-policy.ts';
import { FLAGS } from '../../../../src/core/command/line/flags.ts';
import { VERBS } from '../../../../src/core/command/line/verbs.ts';
import { playPolicy } from '../../../app/policy.ts';
import { completionOf } from '../../../page/server/completion.ts';

const loaded = parsePolicy(playPolicy('local').replace('namespaces: [shop]', 'namespaces: [shop, "team-*"]'), 'policy');
if (loaded.kind === 'invalid') throw new Error(loaded.problems.join('\n'));
const words = completionOf(loaded.policy);

describe('the completion', () => {
  it('knows every verb and every flag of the grammar, with its help', () => {
    expect(words.verbs.map(({ word }) => word)).toEqual(VERBS.map(({ name }) => name));
    const flags = words.flags.map(({ word }) => word);
    expect(flags.toSorted()).toEqual(FLAGS.map(({ name }) => `--${name}`).toSorted());
    expect(flags.slice(0, 3)).toEqual(['--image', '--target', '--profile']);
    expect([...words.verbs, ...words.flags].every(({ does }) => does.length > 5)).toBe(true);
  });

  it('knows the policy’s images and namespaces, a prefix not', () => {
    expect(words.images.map(({ word }) => word)).toEqual([
      'autodiagnose',
      'stacks',
      'profile',
      'net',
      'blackbox',
      'debian',
      'debugger',
      'security-audit',
    ]);
    expect(words.namespaces).toEqual(['backoffice', 'default', 'shop', 'vault']);
    const valuesOf = (flag: string) => words.flags.find(({ word }) => word === flag)?.values;
    expect(valuesOf('--image')).toEqual(words.images.map(({ word }) => word));
    expect(valuesOf('--profile')).toContain('sysadmin');
    expect(valuesOf('--cluster')).toEqual(['play']);
    expect(valuesOf('--reason')).toBeUndefined();
  });
});
