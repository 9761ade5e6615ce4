import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const IMAGES = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(IMAGES, path), 'utf8');

const pins = read('packages.txt')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' '));

/** The images that are laid out from packages. */
const images = readdirSync(IMAGES).filter(
  (name) =>
    existsSync(join(IMAGES, name, 'build-rootfs.sh')) && read(`${name}/build-rootfs.sh`).includes('/packages.sh'),
);

/** What an image asks packages.sh for. */
function packagesOf(image: string): readonly (readonly [kind: string, name: string])[] {
  const script = read(`${image}/build-rootfs.sh`).replaceAll(/\\\n/g, ' ');
  const debs = [...script.matchAll(/^packages (.+) "\$\w+(?:\/\w+)*"$/gm)].flatMap(([, names = '']) =>
    names.split(/\s+/),
  );
  const wheels = [...script.matchAll(/^wheel (\S+) /gm)].map(([, name = '']) => name);
  return [...debs.map((name) => ['deb', name] as const), ...wheels.map((name) => ['wheel', name] as const)];
}

describe('the packages of the images', () => {
  it('are pinned by version and SHA-256, once for each platform', () => {
    for (const pin of pins) {
      expect(pin, pin.join(' ')).toHaveLength(5);
      expect(pin[0]).toMatch(/^(?:deb|wheel)$/);
      expect(pin[3]).toMatch(/^(?:amd64|arm64)$/);
      expect(pin[4]).toMatch(/^[0-9a-f]{64}$/);
    }
    const keys = pins.map(([kind, name, , arch]) => `${kind} ${name} ${arch}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  // These are their program alone.
  it.each(images.filter((image) => image !== 'autodiagnose' && image !== 'blackbox'))(
    'are all in the list: %s',
    (image) => {
      const wanted = packagesOf(image);
      expect(wanted.length).toBeGreaterThan(0);
      for (const [kind, name] of wanted)
        expect(
          pins.some((pin) => pin[0] === kind && pin[1] === name && pin[3] === 'amd64'),
          `${kind} ${name}`,
        ).toBe(true);
    },
  );

  it.each(images.filter((image) => existsSync(join(IMAGES, image, 'Dockerfile'))))(
    'come into the Dockerfile by the same script: %s',
    (image) => {
      const dockerfile = read(`${image}/Dockerfile`);
      expect(dockerfile).toMatch(/^COPY packages\.sh (?:packages\.txt )?\/src\/$/m);
      expect(dockerfile).toMatch(/^COPY tools\/ \/src\/tools\/$/m);
      expect(dockerfile).toContain(`sh /src/${image}/build-rootfs.sh /out`);
      expect(dockerfile).toContain(`ENTRYPOINT ["/${image}"]`);
    },
  );

  it.each(images)('leave programs that can be run but not read: %s', (image) => {
    expect(read(`${image}/build-rootfs.sh`)).toMatch(new RegExp(`^chmod 0111 .*"\\$root/${image}"`, 'm'));
  });
});
