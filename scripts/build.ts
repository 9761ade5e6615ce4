import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundledPackages, printNotices } from './third-party.ts';

/**
 * build.ts [FOLDER]: bundles the program and its command-line tools into dist/ (or the folder), packages included, so that the
 * image needs no node_modules and starts in a third of the time. Some packages are CommonJS and call `require`: the banner
 * gives them one. The folder is all that the image copies: bundles, maps, a package.json that makes them ES modules, licences.
 */
const outdir = process.argv[2] ?? 'dist';

const ENTRIES = {
  main: 'src/main.ts',
  cli: 'src/cli/main.ts',
};

const BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  "const __dirname = __fileURLToPath(new URL('.', import.meta.url));",
].join('\n');

rmSync(outdir, { recursive: true, force: true });
const { metafile } = await build({
  metafile: true,
  entryPoints: ENTRIES,
  outdir,
  bundle: true,
  platform: 'node',
  // debug asks for it only if it is there, which it is through development packages alone: those stay out of the image.
  external: ['supports-color'],
  // node-fetch takes this package where Node has no URL of its own. It asks for Node's punycode, of which Node warns on standard error.
  alias: { 'whatwg-url': 'node:url' },
  target: 'node20',
  format: 'esm',
  sourcemap: true,
  // For whoever asks for them (`node --enable-source-maps`): by default a stack has the bundle's lines, because the first one that
  // is read makes Node parse the whole map, which stops everything else for 0.1 to 0.2 s. The sources would cost 30 MiB more.
  sourcesContent: false,
  banner: { js: BANNER },
  logLevel: 'warning',
});

const { name, version, license, type } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync(join(outdir, 'package.json'), `${JSON.stringify({ name, version, license, type })}\n`);
copyFileSync('LICENSE', join(outdir, 'LICENSE'));
writeFileSync(join(outdir, 'THIRD-PARTY-NOTICES'), printNotices(bundledPackages(metafile)));
