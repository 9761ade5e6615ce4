import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

/** A package of which something stands in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** The SPDX expression of its package.json. */
  readonly license: string;
  /** Of its LICENSE, LICENCE, COPYING and NOTICE files, in the order of their names; empty where it ships none. */
  readonly texts: readonly string[];
}

/** Below `root`: the packages whose code the outputs of a build hold, each version once, by name. */
export function bundledPackages({ outputs }: Metafile, root = '.'): readonly BundledPackage[] {
  const folders = new Set(
    Object.values(outputs)
      .flatMap(({ inputs }) => Object.entries(inputs))
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .flatMap(([path]) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  const packages = [...folders].map((folder) => packageIn(join(root, folder)));
  const unique = new Map(packages.map((each) => [`${each.name}@${each.version}`, each]));
  return [...unique].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

function packageIn(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i.test(entry.name))
    .map((entry) => entry.name)
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return { name, version, license: String(license ?? 'not stated'), texts };
}

/** The notices that the licences ask for with every copy: each package with its licence and the texts that it ships. */
export const printNotices = (packages: readonly BundledPackage[]): string =>
  [
    'kdebug contains these packages. Each comes under its own licence, as its authors wrote it.',
    ...packages.map(({ name, version, license, texts }) =>
      [
        `${'='.repeat(80)}\n${name} ${version} (${license})`,
        ...(texts.length > 0 ? texts : ['The package ships no text of its licence.']),
      ].join('\n\n'),
    ),
    '',
  ].join('\n\n');
