import { expect, it } from 'vitest';
import { loaded, MINIMAL, problems } from './policy-text.ts';

it.each([
  ['', 'p.yaml:1:1 the file must be a map of keys'],
  ['[]', 'p.yaml:1:1 the file must be a map of keys'],
  ['a: [', 'p.yaml:1:5'],
  ['a: 1\n---\nb: 2\n', 'p.yaml:2:1'],
  ['a: *nowhere\n', 'p.yaml:1:1 uses its aliases too often, or one that is not there'],
])('a file that is %j is refused with a position', (text, problem) => {
  expect(problems(text)[0]).toContain(problem);
});

it('aliases that multiply are refused before the tree is built: no memory holds its two to the thirtieth leaves', () => {
  const levels = Array.from(
    { length: 30 },
    (_, level) => `a${level}: &a${level} [${level ? `*a${level - 1}, *a${level - 1}` : 'x'}]`,
  );
  expect(problems(levels.join('\n'))[0]).toContain('uses its aliases too often');
});

it('an anchor may be used: rules share a list', () => {
  const text = `${MINIMAL}channels:
  C0SHOP:
    rules:
      - { id: a, clusters: [here], namespaces: &ns [shop], classes: [], profiles: [] }
      - { id: b, clusters: [her], namespaces: *ns, classes: [], profiles: [] }
`;
  expect(problems(text)).toEqual([
    'p.yaml:9:29 channels.C0SHOP.rules[1].clusters[0]: "her" is no cluster of clusters; did you mean "here"?',
  ]);
  const { channels } = loaded(text.replace('[her]', '[here]'));
  expect(channels).toMatchObject({ C0SHOP: { rules: [{}, { namespaces: ['shop'] }] } });
});
