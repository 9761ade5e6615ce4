import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installOf, notesOf, published, REGISTRY_OF_A_COPY, withWholeLinks } from './release/texts.ts';

/**
 * What .github/workflows/release.yml needs of this repository:
 *   release.ts notes VERSION     prints the CHANGELOG's section and how to install from --registry; exits 1 when there is no
 *                                section, or package.json has another version
 *   release.ts pack DIR …        copies manifests and chart to DIR, naming the published images by digest: a file for
 *                                each in the folder --digests, with the image's name; INSTALL.md says what to do with them
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repository: { type: 'string', default: 'REPLACEME/kdebug' },
    registry: { type: 'string', default: REGISTRY_OF_A_COPY },
    digests: { type: 'string', default: '' },
  },
});
const [task, argument = ''] = positionals;
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const links = { repository: values.repository, version };
const page = installOf(readFileSync('docs/install.md', 'utf8'), values.registry);
const install = withWholeLinks(page, 'docs/install.md', links);

if (task === 'notes') {
  if (argument !== version) throw new Error(`package.json has ${version}, not ${argument}`);
  const notes = notesOf(readFileSync('CHANGELOG.md', 'utf8'), argument);
  console.log(`${withWholeLinks(notes, 'CHANGELOG.md', links)}\n\n${install}`);
} else if (task === 'pack') {
  const digests = Object.fromEntries(
    readdirSync(values.digests).map((name) => [name, readFileSync(join(values.digests, name), 'utf8').trim()]),
  );
  for (const folder of ['manifests', 'charts'].filter((name) => existsSync(name))) {
    cpSync(folder, join(argument, folder), { recursive: true });
  }
  for (const name of readdirSync(argument, { recursive: true, encoding: 'utf8' })) {
    const path = join(argument, name);
    if (!statSync(path).isFile()) continue;
    writeFileSync(path, published(readFileSync(path, 'utf8'), { ...values, digests, version }));
  }
  writeFileSync(join(argument, 'INSTALL.md'), `${install}\n`);
} else {
  console.error('usage: release.ts notes VERSION [--registry …] | pack DIR --repository … --registry … --digests DIR');
  process.exitCode = 2;
}
