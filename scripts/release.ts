import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { notesOf, published, REGISTRY_OF_A_COPY } from './release/texts.ts';

/**
 * What .github/workflows/release.yml needs of this repository:
 *   release.ts notes VERSION     prints the CHANGELOG's section; exits 1 when there is none, or package.json has another version
 *   release.ts pack DIR …        copies manifests and chart to DIR, naming the published images by digest: a file for
 *                                each in the folder --digests, with the image's name
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repository: { type: 'string', default: '' },
    registry: { type: 'string', default: REGISTRY_OF_A_COPY },
    digests: { type: 'string', default: '' },
  },
});
const [task, argument = ''] = positionals;
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

if (task === 'notes') {
  if (argument !== version) throw new Error(`package.json has ${version}, not ${argument}`);
  console.log(notesOf(readFileSync('CHANGELOG.md', 'utf8'), argument));
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
} else {
  console.error('usage: release.ts notes VERSION | pack DIR --repository … --registry … --digests DIR');
  process.exitCode = 2;
}
