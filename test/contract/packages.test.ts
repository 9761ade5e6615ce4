import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
}

const lock = JSON.parse(readFileSync(fileURLToPath(new URL('../../package-lock.json', import.meta.url)), 'utf8'));
/** Folders of ours, which the lock file names once by their path and once as a link. */
const workspaces: readonly string[] = lock.packages[''].workspaces;
const packages = Object.entries(lock.packages as Record<string, LockedPackage>).filter(
  ([path, { link, resolved = '' }]) => !['', ...workspaces].includes(link === true ? resolved : path),
);
const pathsOf = (wanted: (each: LockedPackage) => boolean): readonly string[] =>
  packages.filter(([, each]) => wanted(each)).map(([path]) => path);

it('every locked package has the hash of its content', () => {
  expect(packages.length).toBeGreaterThan(400);
  expect(pathsOf(({ integrity }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''))).toEqual([]);
});

it('no locked package comes from git, an address or a folder instead of the registry', () => {
  // The lock file leaves out where registry packages are fetched from (.npmrc), so whatever names a place is something else.
  expect(
    pathsOf(({ resolved, link, version }) => resolved !== undefined || link === true || !/^\d/.test(version ?? '')),
  ).toEqual([]);
  const asked = packages.flatMap(([, each]) => Object.values((each as { dependencies?: object }).dependencies ?? {}));
  expect(asked.filter((range) => /^(?:git|https?|file|link|github):|\.git(?:#|$)/.test(String(range)))).toEqual([]);
});

it('only esbuild has an install script, and it is no package of production', () => {
  expect(pathsOf(({ hasInstallScript }) => hasInstallScript === true)).toEqual(['node_modules/esbuild']);
  expect(pathsOf(({ hasInstallScript, dev }) => hasInstallScript === true && dev !== true)).toEqual([]);
});
