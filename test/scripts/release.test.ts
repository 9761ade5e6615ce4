import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { installOf, notesOf, published } from '../../scripts/release/texts.ts';
import { VERSION } from '../../src/compose.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** As the workflow hands them over: a file for each image. */
const DIGESTS: Readonly<Record<string, string>> = Object.fromEntries(
  ['kdebug', 'kdebug-autodiagnose', 'kdebug-stacks', 'kdebug-profile', 'kdebug-net', 'kdebug-blackbox'].map(
    (name, index) => [name, `sha256:${'abcdef'.charAt(index).repeat(64)}`],
  ),
);

describe('the notes of a release', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n- later\n\n## 1.10.0 – 2026-12-01\n\n- ten\n\n## 1.1.0\n\n- one\n\n## 1.0.0\n';

  it('are the section of its version alone', () => {
    expect(notesOf(changelog, '1.1.0')).toBe('- one');
    expect(notesOf(changelog, '1.10.0')).toBe('- ten');
  });

  it('must be there', () => {
    expect(() => notesOf(changelog, '1.2.0')).toThrow('no section "## 1.2.0"');
    expect(() => notesOf(changelog, '1.0.0')).toThrow('or nothing in it');
  });
});

describe('the notes of this version', () => {
  const said = execFileSync(
    process.execPath,
    [
      '--import',
      'tsx',
      'scripts/release.ts',
      'notes',
      VERSION,
      '--repository',
      'Some/kdebug',
      '--registry',
      'ghcr.io/some',
    ],
    { cwd: ROOT, encoding: 'utf8' },
  );

  it('are in the CHANGELOG, and say how to install it from its registry', () => {
    const [about = '', install = ''] = said.split('\n## Install\n');
    expect(about.length).toBeGreaterThan(200);
    expect(install).toContain(`helm upgrade --install kdebug oci://ghcr.io/some/charts/kdebug --version ${VERSION} `);
    expect(install).not.toContain('replaceme');
  });

  it('lead to the pages of this version, because a release has none beside it', () => {
    expect(said).not.toMatch(/\]\((?!https:)/);
    const docs = `https://github.com/Some/kdebug/blob/v${VERSION}/docs`;
    expect(said).toContain(`[docs/live-check.md](${docs}/live-check.md)`);
    expect(said).toContain(`[step 4](${docs}/install.md#4-the-secret-one-minute)`);
  });

  it('must say how', () => {
    expect(() => installOf('# Install\n\n## Steps\n', 'ghcr.io/some')).toThrow('no section "From a release"');
  });
});

describe('what a release packs', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-release-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const words = ['--repository', 'Some/kdebug', '--registry', 'ghcr.io/some'];
  const [digests, packed] = [join(directory, 'digests'), join(directory, 'packed')];
  mkdirSync(digests);
  for (const [name, digest] of Object.entries(DIGESTS)) writeFileSync(join(digests, name), `${digest}\n`);
  const pack = ['--import', 'tsx', 'scripts/release.ts', 'pack', packed, ...words, '--digests', digests];
  execFileSync(process.execPath, pack, { cwd: ROOT });
  const paths = readdirSync(packed, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(packed, path)).isFile(),
  );
  const text = paths.map((path) => readFileSync(join(packed, path), 'utf8')).join('\n');

  it('names the published images by digest, and none that only a checkout has', () => {
    expect(text).toContain(`newName: ghcr.io/some/kdebug\n    digest: ${DIGESTS.kdebug}`);
    for (const [name, digest] of Object.entries(DIGESTS).slice(1))
      expect(text).toMatch(new RegExp(`^ +#?image: ghcr\\.io/some/${name}:[\\d.]+@${digest}$`, 'm'));
    expect(text).not.toMatch(/newName: kdebug$|^ +#?image: kdebug-|^ +repository: kdebug$/m);
  });

  it('says how to install it', () => {
    expect(readFileSync(join(packed, 'INSTALL.md'), 'utf8')).toContain(
      `oci://ghcr.io/some/charts/kdebug --version ${VERSION}`,
    );
    expect(text).not.toContain('ghcr.io/replaceme');
    expect(text).toContain(`https://github.com/Some/kdebug/blob/v${VERSION}/docs/install.md#3-your-installation`);
  });

  it('leads to the runbooks of its own version', () => {
    expect(text).toContain(`https://github.com/Some/kdebug/blob/v${VERSION}/docs/runbooks.md#kdebugabsent`);
    expect(text).not.toContain('REPLACEME/kdebug');
  });

  it('takes nothing for a digest that is none', () => {
    const values = { repository: 'a/b', registry: 'c', version: '1.0.0' };
    expect(() => published('', { ...values, digests: {} })).toThrow('"" is no digest (kdebug)');
    const digests = { ...DIGESTS, 'kdebug-net': 'latest' };
    expect(() => published('image: kdebug-net:1.0', { ...values, digests })).toThrow('is no digest (kdebug-net)');
  });
});
