import { rmSync } from 'node:fs';
import { build } from 'esbuild';

/**
 * build.ts [FOLDER]: bundles the program and its command-line tools into dist/ (or the folder), packages included, so that the
 * image needs no node_modules and starts in a third of the time. Some packages are CommonJS and call `require`: the banner
 * gives them one.
 */
const outdir = process.argv[2] ?? 'dist';

const ENTRIES = {
  main: 'src/main.ts',
  audit: 'src/cli/audit-main.ts',
  explain: 'src/cli/explain-main.ts',
  'lint-policy': 'src/cli/lint-policy-main.ts',
  rbac: 'src/cli/rbac-main.ts',
};

const BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  "const __dirname = __fileURLToPath(new URL('.', import.meta.url));",
].join('\n');

rmSync(outdir, { recursive: true, force: true });
await build({
  entryPoints: ENTRIES,
  outdir,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: true,
  // Names and lines are enough for a stack; the sources themselves would cost 30 MiB of memory in every process.
  sourcesContent: false,
  banner: { js: BANNER },
  logLevel: 'warning',
});
