import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise, type IConfiguration, type ICruiseResult } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { afterEach, describe, expect, it } from 'vitest';
import { itInFull } from '../support/sample.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const config = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as IConfiguration & {
  readonly ORDERS: Readonly<Record<string, readonly string[]>>;
};

type Tree = Readonly<Record<string, string>>;

const PACKAGES = [
  '@slack/bolt',
  '@kubernetes/client-node',
  'undici',
  'ioredis',
  'pino',
  'prom-client',
  'tar-stream',
  're2js',
  'zod',
  'yaml',
];
const manifest = (name: string) => JSON.stringify({ name, version: '1.0.0', main: 'index.js' });

/** A small tree in which every allowed kind of import occurs. */
const CLEAN: Tree = {
  'package.json': JSON.stringify({
    name: 'tree',
    dependencies: Object.fromEntries(PACKAGES.map((name) => [name, '1.0.0'])),
    devDependencies: { vitest: '1.0.0' },
  }),
  'tsconfig.json': '{ "compilerOptions": { "module": "nodenext", "allowImportingTsExtensions": true } }',
  ...Object.fromEntries(
    [...PACKAGES, 'vitest', 'unlisted'].flatMap((name) => [
      [`node_modules/${name}/package.json`, manifest(name)],
      [`node_modules/${name}/index.js`, 'module.exports = {};'],
    ]),
  ),
  'src/compose-doctor.ts': "import './adapters/log/index.ts'; import './doctor/checks.ts'; import './cli/lint.ts';",
  'src/main.ts':
    "import './compose-doctor.ts'; import './compose.ts'; import './config/env.ts'; import './adapters/log/index.ts';",
  'src/compose.ts': "import './adapters/store/index.ts'; import './flow/pipeline.ts'; import './config/env.ts';",
  'src/core/hash.ts': "import 'node:crypto';",
  'src/core/run.ts': "import 'node:util'; import './hash.ts'; export type Run = string;",
  'src/flow/ports/store.ts': "import type { Run } from '../../core/run.ts'; export interface RunStore { run: Run }",
  'src/flow/pipeline.ts': "import './ports/store.ts'; import '../core/run.ts';",
  'src/doctor/probes.ts': "import type { Run } from '../core/run.ts'; export interface Probe { run: Run }",
  'src/doctor/checks.ts': "import './probes.ts'; import '../config/env.ts'; import 'node:path';",
  'src/adapters/log/index.ts': "import 'pino'; import 'zod'; import 'node:fs';",
  'src/adapters/store/index.ts': "import './memory.ts'; import 'ioredis';",
  'src/adapters/store/memory.ts':
    "import type { RunStore } from '../../flow/ports/store.ts'; import '../../core/run.ts';",
  'src/adapters/slack/index.ts': "import '@slack/bolt'; import 'undici';",
  'src/adapters/kubernetes/index.ts':
    "import '@kubernetes/client-node'; import 'undici'; import type { Probe } from '../../doctor/probes.ts';",
  'src/adapters/metrics/index.ts': "import 'prom-client';",
  'src/lib/patterns/linear.ts': "import 're2js';",
  'src/config/env.ts': "import 'yaml'; import 'zod'; import 'node:fs'; import '../core/run.ts';",
  'src/cli/lint.ts': "import '../config/env.ts'; import '../core/run.ts';",
  'play/main.ts': "import '../src/compose.ts'; import '../src/core/run.ts'; import '../src/adapters/log/index.ts';",
  'test/run.test.ts': "import 'vitest'; import '../src/adapters/store/memory.ts'; import '../play/main.ts';",
  'play/test/main.test.ts':
    "import '../main.ts'; import '../../test/run.test.ts'; import '../../src/adapters/store/memory.ts';",
};

/** One forbidden import each: [rule, file, its text]. The file must not be in the clean tree. */
const VIOLATIONS: readonly (readonly [rule: string, file: string, text: string])[] = [
  ['lib-is-domain-free', 'src/lib/a.ts', "import type { Run } from '../core/run.ts';"],
  ['core-is-pure', 'src/core/a.ts', "import 'node:fs';"],
  ['core-is-pure', 'src/core/b.ts', "import 'zod';"],
  ['core-is-pure', 'src/core/c.ts', "import type { RunStore } from '../flow/ports/store.ts';"],
  ['core-is-pure', 'src/core/d.ts', "import '../config/env.ts';"],
  ['core-hashes-in-one-place', 'src/core/e.ts', "import 'node:crypto';"],
  ['flow-knows-core-only', 'src/flow/a.ts', "import 'node:util';"],
  ['flow-knows-core-only', 'src/flow/b.ts', "import type { Logger } from 'pino';"],
  ['flow-knows-core-only', 'src/flow/c.ts', "import type { X } from '../adapters/log/index.ts';"],
  ['flow-knows-core-only', 'src/flow/d.ts', "import '../config/env.ts';"],
  ['doctor-knows-core-only', 'src/doctor/a.ts', "import type { RunStore } from '../flow/ports/store.ts';"],
  ['doctor-knows-core-only', 'src/doctor/b.ts', "import type { X } from '../adapters/log/index.ts';"],
  ['adapters-know-flow-by-type', 'src/adapters/store/l.ts', "import '../../doctor/probes.ts';"],
  ['adapters-know-ports-only', 'src/adapters/store/m.ts', "import type { X } from '../../doctor/checks.ts';"],
  ['adapters-know-flow-by-type', 'src/adapters/store/a.ts', "import '../../flow/ports/store.ts';"],
  ['adapters-know-ports-only', 'src/adapters/store/b.ts', "import type { X } from '../../flow/pipeline.ts';"],
  ['adapters-do-not-know-each-other', 'src/adapters/store/c.ts', "import type { X } from '../log/index.ts';"],
  ['adapters-do-not-know-config', 'src/adapters/store/d.ts', "import type { Env } from '../../config/env.ts';"],
  ['adapters-do-not-know-config', 'src/adapters/store/e.ts', "import type { X } from '../../compose.ts';"],
  ['one-door-per-adapter', 'play/a.ts', "import '../src/adapters/store/memory.ts';"],
  ['doors-only-for-adapters', 'src/core/command.ts', "import './command/index.ts';"],
  ['config-knows-core-only', 'src/config/a.ts', "import type { RunStore } from '../flow/ports/store.ts';"],
  ['only-main-composes', 'src/cli/a.ts', "import '../adapters/log/index.ts';"],
  ['only-main-composes', 'src/cli/b.ts', "import '../compose.ts';"],
  ['nobody-imports-main', 'play/b.ts', "import '../src/main.ts';"],
  ['src-knows-no-test-or-play', 'src/core/f.ts', "import type { X } from '../../play/main.ts';"],
  ['src-knows-no-test-or-play', 'src/cli/c.ts', "import '../../test/run.test.ts';"],
  ['play-knows-no-test', 'play/c.ts', "import '../test/run.test.ts';"],
  ['play-knows-no-test', 'play/d.ts', "import './test/main.test.ts';"],
  ['src-uses-runtime-packages', 'src/cli/d.ts', "import 'vitest';"],
  ['src-uses-runtime-packages', 'src/cli/e.ts', "import 'unlisted';"],
  ['no-cycles', 'src/core/g.ts', "import type { X } from './g.ts';"],
  ['imports-resolve', 'test/a.ts', "import './nowhere.ts';"],
  ['home-of-slack', 'src/adapters/store/f.ts', "import type { App } from '@slack/bolt';"],
  ['home-of-kubernetes', 'src/adapters/store/g.ts', "import type { V1Pod } from '@kubernetes/client-node';"],
  ['home-of-undici', 'src/adapters/store/h.ts', "import 'undici';"],
  ['home-of-ioredis', 'src/adapters/log/a.ts', "import 'ioredis';"],
  ['home-of-pino', 'src/adapters/store/i.ts', "import 'pino';"],
  ['home-of-prom-client', 'src/adapters/store/j.ts', "import 'prom-client';"],
  ['home-of-re2js', 'src/core/k.ts', "import 're2js';"],
  ['home-of-tar-stream', 'src/adapters/store/n.ts', "import 'tar-stream';"],
  ['home-of-zod', 'src/cli/f.ts', "import 'zod';"],
  ['home-of-yaml', 'src/adapters/store/k.ts', "import 'yaml';"],
];

/** A file of its own in a folder of an order, or the file that the order names. */
const placeIn = (folder: string, name: string, own: string): string =>
  name.endsWith('.ts') ? `${folder}/${name}` : `${folder}/${name}/${own}.ts`;

/** Each but the last of an order imports the one after it, and so what it must not. */
const AGAINST_ORDERS: readonly (readonly [rule: string, file: string, text: string])[] = Object.entries(
  config.ORDERS,
).flatMap(([folder, names]) =>
  names.slice(0, -1).map((name, index) => {
    const file = placeIn(folder, name, 'against-order');
    const after = relative(dirname(file), placeIn(folder, names[index + 1] ?? '', 'against-order'));
    return [
      `order-of-${folder.replaceAll('/', '-')}-${name}`,
      file,
      `import '${after.startsWith('.') ? after : `./${after}`}';`,
    ] as const;
  }),
);

const trees: string[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

function plant(tree: Tree): string {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-tree-'));
  trees.push(directory);
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

async function cruiseIn(directory: string): Promise<ICruiseResult> {
  const options = { ...config.options, ruleSet: { forbidden: config.forbidden ?? [] }, validate: true };
  const tsConfig = extractTSConfig(join(directory, 'tsconfig.json'));
  const { output } = await cruise(['src', 'play', 'test'], { ...options, baseDir: directory }, {}, { tsConfig });
  if (typeof output === 'string') throw new Error('expected a result, not a report');
  return output;
}

const foundIn = ({ summary }: ICruiseResult) => summary.violations.map(({ rule, from }) => `${from}: ${rule.name}`);

describe('the architecture rules', () => {
  it('leave a clean tree alone, and have looked at all of it', async () => {
    const result = await cruiseIn(plant(CLEAN));
    expect(foundIn(result)).toEqual([]);
    const sources = result.modules.map(({ source }) => source).filter((source) => /^(src|play|test)\//.test(source));
    expect(sources.sort()).toEqual(
      Object.keys(CLEAN)
        .filter((path) => /^(src|play|test)\//.test(path))
        .sort(),
    );
  });

  it('bite at every seeded violation', async () => {
    const seeded = Object.fromEntries(VIOLATIONS.map(([, file, text]) => [file, text]));
    const door = { 'src/core/command/index.ts': 'export const x = 1;' };
    const found = new Set(foundIn(await cruiseIn(plant({ ...CLEAN, ...seeded, ...door }))));
    const missed = VIOLATIONS.filter(([rule, file]) => !found.has(`${file}: ${rule}`));
    expect(missed).toEqual([]);
    const innocent = [...found].filter((violation) => Object.keys(CLEAN).some((path) => violation.startsWith(path)));
    expect(innocent).toEqual([]);
  });

  it('bite where a file imports what comes after it in an order', async () => {
    const ends = Object.entries(config.ORDERS).map(([folder, names]) =>
      placeIn(folder, names.at(-1) ?? '', 'against-order'),
    );
    const seeded = Object.fromEntries([
      ...ends.map((file) => [file, 'export const x = 1;'] as const),
      ...AGAINST_ORDERS.map(([, file, text]) => [file, text] as const),
    ]);
    const found = new Set(foundIn(await cruiseIn(plant({ ...CLEAN, ...seeded }))));
    expect(AGAINST_ORDERS.filter(([rule, file]) => !found.has(`${file}: ${rule}`))).toEqual([]);
  });

  it('are all seeded, and each says what to do instead', () => {
    const names = (config.forbidden ?? []).map((rule) => rule.name ?? '');
    expect(names.filter((name) => ![...VIOLATIONS, ...AGAINST_ORDERS].some(([rule]) => rule === name))).toEqual([]);
    for (const rule of config.forbidden ?? []) {
      expect(rule.comment, rule.name).toMatch(/^Instead: /);
      expect(rule.severity, rule.name).toBe('error');
    }
  });

  // `npm run check` does this too, with the same rules.
  itInFull('look at the modules of this project, and find them in order', async () => {
    const result = await cruiseIn(ROOT);
    expect(result.modules.filter(({ source }) => source.startsWith('src/')).length).toBeGreaterThan(20);
    expect(foundIn(result)).toEqual([]);
  });
});
