import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string; readonly size: number }[];
}

interface Config {
  readonly architecture: string;
  readonly config: {
    readonly User: string;
    readonly Labels: Readonly<Record<string, string>>;
    readonly Entrypoint: readonly string[];
    readonly Cmd?: readonly string[];
  };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

/** A built image, from its OCI layout. */
function image(name: 'kdebug' | 'arm64' | 'autodiagnose') {
  const layout = join(inject('images'), name);
  const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'));
  const json = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;
  const [entry] = json<{ manifests: { digest: string }[] }>(join(layout, 'index.json')).manifests;
  const manifest = json<Manifest>(blob(entry?.digest ?? ''));
  const files = (layer: number): readonly string[] => {
    const words = ['--list', '--file', blob(manifest.layers.at(layer)?.digest ?? '')];
    return execFileSync('tar', words, { encoding: 'utf8', maxBuffer: 2 ** 26 })
      .trim()
      .split('\n');
  };
  return { manifest, files, ...json<Config>(blob(manifest.config.digest)) };
}

const MB = 1_000_000;

describe("kdebug's image", () => {
  it('runs Node as an ordinary user, by number', () => {
    const { config } = image('kdebug');
    expect(config.User).toBe('65532:65532');
    expect(config.Entrypoint[0]).toBe('/nodejs/bin/node');
    expect(config.Cmd).toEqual(['main.js']);
  });

  it('says what it is and what it was built from', () => {
    const { Labels } = image('kdebug').config;
    expect(Labels).toMatchObject({
      'org.opencontainers.image.title': 'kdebug',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
      'org.opencontainers.image.revision': expect.stringMatching(/^([0-9a-f]{40}|unknown)$/),
      'org.opencontainers.image.base.digest': expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
  });

  it('adds to its base the bundles and the notices of what is in them, in one layer: no shell, no npm', () => {
    const { manifest, files } = image('kdebug');
    expect(manifest.layers).toHaveLength(2);
    const ours = files(-1);
    expect(ours).toContain('app/main.js');
    expect(ours).toContain('app/LICENSE');
    expect(ours.some((path) => /third-party|NOTICE/i.test(path))).toBe(true);
    expect(ours.filter((path) => /(^|\/)(bin|node_modules|npm|sh|bash|busybox)(\/|$)/.test(path))).toEqual([]);
  });

  it('is at most 60 MB as it is pulled, most of it Node', () => {
    const { layers } = image('kdebug').manifest;
    const size = layers.reduce((sum, layer) => sum + layer.size, 0);
    console.log(
      `kdebug's image: ${(size / MB).toFixed(1)} MB compressed, of which ours ${((layers.at(-1)?.size ?? 0) / MB).toFixed(1)} MB`,
    );
    expect(size).toBeLessThan(60 * MB);
  });

  it('comes out equal to the last bit when it is built again, and for arm64', () => {
    const [amd64, arm64] = [image('kdebug'), image('arm64')];
    expect([amd64.architecture, arm64.architecture]).toEqual(['amd64', 'arm64']);
    expect(arm64.rootfs.diff_ids.at(-1)).toBe(amd64.rootfs.diff_ids.at(-1));
    expect(arm64.config).toEqual(amd64.config);
  });
});

describe("autodiagnose's image", () => {
  it('is one layer of one static program, run as an ordinary user', () => {
    const { config, manifest, files } = image('autodiagnose');
    expect(config).toMatchObject({ User: '65532:65532', Entrypoint: ['/autodiagnose'] });
    expect(config.Labels['org.opencontainers.image.licenses']).toBe('Apache-2.0 AND BSD-3-Clause');
    expect(manifest.layers).toHaveLength(1);
    expect(files(0).filter((path) => !path.endsWith('/'))).toEqual(['autodiagnose', 'etc/passwd']);
  });
});
