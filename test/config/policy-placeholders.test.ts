import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type LoadedPolicy, parsePolicy } from '../../src/config/load-policy.ts';

const SHIPPED = readFileSync(new URL('../../manifests/base/policy.yaml', import.meta.url), 'utf8');

function placeholders(text: string): readonly string[] {
  const loaded = parsePolicy(text, 'p.yaml') as LoadedPolicy;
  expect(loaded).toMatchObject({ kind: 'ok' });
  return loaded.placeholders;
}

const withImage = (image: string): string => `
version: 1
clusters: { here: { inCluster: true } }
identity: { mode: serviceAccount }
images: { look: { image: "${image}", class: observe } }
`;

describe('the policy that is shipped', () => {
  it('names its channel and its image as what the reader must set, with line and column', () => {
    expect(placeholders(SHIPPED)).toEqual([
      expect.stringMatching(/^p\.yaml:\d+:12 images\.autodiagnose\.image: is in no registry: build and push it/),
      expect.stringMatching(/^p\.yaml:\d+:3 channels\.C0REPLACEME: is a placeholder: put the channel's id /),
    ]);
  });

  it('with every setting on that it shows as off, names the person, the group and the other images too', () => {
    const found = placeholders(SHIPPED.replaceAll(/^(\s*)#(?=[^\s])/gm, '$1'));
    expect(found).toHaveLength(13);
    expect(found).toContainEqual(expect.stringContaining("shop.channel: is a placeholder: put the channel's id"));
    for (const alias of ['autodiagnose', 'stacks', 'profile', 'blackbox', 'net', 'capture'])
      expect(found).toContainEqual(expect.stringContaining(`images.${alias}.image: is in no registry`));
    expect(found).toContainEqual(expect.stringContaining("users.U0REPLACEME: is a placeholder: put the person's id"));
    expect(found).toContainEqual(expect.stringContaining("sre.usergroup: is a placeholder: put the user group's id"));
  });

  it('has none any more once channel and image are set', () => {
    const text = SHIPPED.replaceAll('C0REPLACEME', 'C0SHOP').replace(': kdebug-auto', ': ghcr.io/acme/kdebug-auto');
    expect(placeholders(text)).toEqual([]);
  });
});

it('finds a placeholder in any text, also in a list, and never in a comment', () => {
  const text = `${withImage('busybox:1.37')}approvers: { sre: { users: [U0ROY, U1REPLACEME] } } # U2REPLACEME\nowner: "REPLACE_ME"\n`;
  expect(placeholders(text)).toEqual([
    expect.stringMatching(/ approvers\.sre\.users\[1\]: is a placeholder: put the person's id/),
    expect.stringMatching(/ owner: is a placeholder: put the real one here$/),
  ]);
});

describe('an image', () => {
  it.each([
    ['kdebug-autodiagnose:0.3.0', 'is in no registry'],
    ['kdebug', 'is in no registry'],
    ['kdebug-stacks:0.1.0', 'is in no registry'],
    ['kdebug-profile:0.1.0', 'is in no registry'],
    ['kdebug-net:0.1.0', 'is in no registry'],
    ['registry.example.com/look:1', 'names registry.example.com, where no registry is'],
    ['example.org:5000/look:1', 'names example.org:5000, where no registry is'],
    ['registry.invalid/look:1', 'names registry.invalid, where no registry is'],
  ])('%s cannot exist', (image, words) => {
    expect(placeholders(withImage(image))).toEqual([expect.stringContaining(words)]);
  });

  it.each([
    // Loaded onto every node (kind, k3d, minikube), and written as the node stores it.
    'docker.io/library/kdebug-autodiagnose:0.3.0',
    'ghcr.io/acme/kdebug-autodiagnose:0.3.0',
    'acme/kdebug-autodiagnose:0.3.0',
    'localhost:5000/kdebug-autodiagnose:0.3.0',
    'registry.counterexample.com/look:1',
    'busybox:1.37',
  ])('%s may exist', (image) => {
    expect(placeholders(withImage(image))).toEqual([]);
  });
});
