import { expect, it } from 'vitest';
import { PolicyFile } from '../../src/config/policy-file.ts';
import { schemaFindings } from '../../src/config/schema-findings.ts';

const findings = (tree: unknown) =>
  schemaFindings(PolicyFile.safeParse(tree, { reportInput: true }).error?.issues ?? []);

const file = (parts: Readonly<Record<string, unknown>>) => ({
  version: 1,
  clusters: {},
  identity: { mode: 'serviceAccount' },
  ...parts,
});

it('an unknown key is at its key, with the keys of its own place as candidates', () => {
  const rules = [
    { id: 'a', clusters: [], namespaces: [], classes: [], profiles: [], approval: { form: [], from: [] } },
  ];
  expect(findings(file({ channels: { C0SHOP: { rules } } }))).toEqual([
    {
      path: ['channels', 'C0SHOP', 'rules', 0, 'approval', 'form'],
      at: 'key',
      message: 'is not a key here; did you mean "from"?',
    },
  ]);
});

it('several unknown keys are several findings', () => {
  expect(findings(file({ imges: {}, wholly: 1 })).map(({ message }) => message)).toEqual([
    'is not a key here; did you mean "images"?',
    expect.stringMatching(/^is not a key here; one of: version, owner, clusters/),
  ]);
});

it.each<[string, unknown, string]>([
  ['a missing value', { images: { a: { image: 'a:1' } } }, 'is required'],
  ['a wrong kind', { images: [] }, 'must be a map of keys'],
  ['a wrong word', { output: { deliverTo: 'threads' } }, '"threads" is not allowed; did you mean "thread"?'],
  ['a word that is near nothing', { output: { deliverTo: 'x' } }, '"x" is not allowed; one of: thread, requester'],
  ['no word at all', { output: { deliverTo: 5 } }, 'must be thread or requester'],
  ['too small a number', { limits: { runsPerChannel: 0 } }, 'must be at least 1'],
  ['too large a number', { limits: { runsPerChannel: 10_001 } }, 'must be at most 10000'],
  ['a fraction', { limits: { runsPerChannel: 1.5 } }, 'must be a whole number'],
  [
    'too long a text',
    { channels: { C0SHOP: { name: 'x'.repeat(101), rules: [] } } },
    'must be at most 100 characters long',
  ],
  ['too long a list', { output: { redact: Array.from({ length: 51 }, () => 'x') } }, 'must be at most 50 items long'],
])('%s is said in words', (_, parts, message) => {
  expect(findings(file(parts as Record<string, unknown>)).map((finding) => finding.message)).toEqual([message]);
});
