import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/compose.ts';
import { type BuiltProgram, buildProgram } from '../support/program/built-program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** The instructions of a Dockerfile, continued lines joined, comments dropped. */
const instructionsOf = (path: string): readonly Instruction[] =>
  read(path)
    .split('\n')
    .filter((line) => !/^\s*(?:#|$)/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .trim()
    .split('\n')
    .map((line) => ({ word: line.slice(0, line.indexOf(' ')), rest: line.slice(line.indexOf(' ') + 1) }));

/** What makes the image itself: the last FROM and what follows. */
const finalStageOf = (path: string): readonly Instruction[] => {
  const all = instructionsOf(path);
  return all.slice(all.findLastIndex(({ word }) => word === 'FROM'));
};

const restsOf = (instructions: readonly Instruction[], wanted: string): readonly string[] =>
  instructions.filter(({ word }) => word === wanted).map(({ rest }) => rest);

const labelsOf = (path: string): ReadonlyMap<string, string> =>
  new Map(
    [
      ...restsOf(finalStageOf(path), 'LABEL')
        .join(' ')
        .matchAll(/org\.opencontainers\.image\.([a-z.]+)="([^"]*)"/g),
    ].map(([, name = '', value = '']) => [name, value]),
  );

const diagnostic = readdirSync(join(ROOT, 'images'))
  .map((name) => `images/${name}/Dockerfile`)
  .filter((path) => existsSync(join(ROOT, path)));
const dockerfiles = ['Dockerfile', ...diagnostic];

describe.each(dockerfiles)('%s', (path) => {
  const final = finalStageOf(path);

  it('names every base by tag and digest', () => {
    const bases = restsOf(instructionsOf(path), 'FROM').filter((base) => base !== 'scratch');
    expect(bases.length).toBeGreaterThan(0);
    for (const base of bases)
      expect(base).toMatch(/^(?:--platform=\$BUILDPLATFORM )?[a-z0-9./-]+:[\w.-]+@sha256:[0-9a-f]{64}(?: AS [a-z]+)?$/);
  });

  it('runs as a numeric user other than root', () => {
    expect(restsOf(final, 'USER')).toEqual(['65532:65532']);
  });

  it('starts its program itself, without a shell', () => {
    const starts = [...restsOf(final, 'ENTRYPOINT'), ...restsOf(final, 'CMD')];
    expect(starts.length).toBeGreaterThan(0);
    for (const start of starts) expect(JSON.parse(start)).toEqual(expect.arrayContaining([expect.any(String)]));
  });

  it('runs and downloads nothing in the stage that ships', () => {
    expect(final.map(({ word }) => word).filter((word) => ['RUN', 'ADD', 'ONBUILD', 'SHELL'].includes(word))).toEqual(
      [],
    );
  });

  it('says what it is, of which version, and on which base', () => {
    const labels = labelsOf(path);
    const [base = ''] = restsOf(final, 'FROM');
    expect(labels.get('licenses')).toMatch(/^Apache-2\.0(?: AND |$)/);
    expect(labels.get('revision')).toBe('$REVISION');
    expect(labels.get('base.digest')).toBe(/sha256:[0-9a-f]{64}/.exec(base)?.[0]);
    expect(labels.get('base.name')).toBe(base === 'scratch' ? undefined : base.slice(0, base.indexOf('@')));
    expect([...labels.keys()]).toEqual(expect.arrayContaining(['title', 'description', 'version']));
  });
});

it('autodiagnose says its own version in the label', () => {
  const [, version] = /^const Version = "(.+)"$/m.exec(read('images/tools/internal/diagnose/run.go')) ?? [];
  expect(labelsOf('images/autodiagnose/Dockerfile').get('version')).toBe(version);
});

describe('the image of the bot', () => {
  const all = instructionsOf('Dockerfile');
  const final = finalStageOf('Dockerfile');

  it('has neither shell nor package manager: distroless, and what the build wrote', () => {
    expect(restsOf(final, 'FROM')[0]).toMatch(/^gcr\.io\/distroless\/nodejs\d+-debian\d+:nonroot@/);
    expect(restsOf(final, 'COPY')).toEqual(['--from=build /src/dist/ ./']);
    expect(labelsOf('Dockerfile').get('version')).toBe(VERSION);
  });

  it('is built and run by one Node, of a line that package.json takes', () => {
    const [, built] = /node:(\d+)\./.exec(restsOf(all, 'FROM')[0] ?? '') ?? [];
    const [, runs] = /nodejs(\d+)-/.exec(restsOf(final, 'FROM')[0] ?? '') ?? [];
    const [, floor] = /^>=(\d+)\./.exec(JSON.parse(read('package.json')).engines.node) ?? [];
    expect(runs).toBe(built);
    // Even lines become LTS.
    expect(Number(runs) % 2).toBe(0);
    expect(Number(runs)).toBeGreaterThanOrEqual(Number(floor));
  });

  it('is built with the Node that npm run test:node24 tests', () => {
    const [, sed = ''] = /^version=\$\((sed .*) Dockerfile\)$/m.exec(read('.ci/node24')) ?? [];
    const found = execFileSync('sh', ['-c', `${sed} Dockerfile`], { cwd: ROOT, encoding: 'utf8' });
    expect(found).toMatch(/^24\.\d+\.\d+\n$/);
    expect(restsOf(all, 'FROM')[0]).toContain(`node:${found.trim()}-`);
    expect(JSON.parse(read('package.json')).scripts['test:node24']).toBe('.ci/node24');
  });

  it('starts Node without silencing it', () => {
    expect(restsOf(final, 'ENTRYPOINT')).toEqual(['["/nodejs/bin/node"]']);
    expect(restsOf(final, 'ENV').join(' ')).not.toContain('NODE_OPTIONS');
  });

  it('gets from the checkout what its build copies, and no more', () => {
    const copied = restsOf(all, 'COPY')
      .filter((rest) => !rest.startsWith('--from='))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    const letIn = read('.dockerignore').trim().split('\n');
    expect(letIn[0]).toBe('*');
    expect(letIn.slice(1).toSorted()).toEqual(copied.map((path) => `!${path}`).toSorted());
  });

  it('has Node where the pause of several replicas and the command-line tools look for it', () => {
    const [start] = JSON.parse(restsOf(final, 'ENTRYPOINT')[0] ?? '[]');
    expect(restsOf(final, 'ENV').join(' ')).toContain(`PATH=${dirname(start)}`);
  });

  it('tells its program the commit that it was built from', () => {
    expect(restsOf(final, 'ENV').join(' ').split(' ')).toContain('KDEBUG_REVISION=$REVISION');
    const order = final.map(({ word, rest }) => `${word} ${rest}`);
    expect(order.findIndex((line) => line.startsWith('ARG REVISION'))).toBeLessThan(
      order.findIndex((line) => line.startsWith('ENV ')),
    );
  });
});

describe('what the image of the bot copies', () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'kdebug-image-'));
  let built: BuiltProgram;
  beforeAll(async () => {
    built = await buildProgram();
    // Alone in a folder with no node_modules above it, as in the image.
    for (const file of readdirSync(dirname(built.main)))
      copyFileSync(join(dirname(built.main), file), join(elsewhere, file));
  });
  afterAll(() => {
    built.remove();
    rmSync(elsewhere, { recursive: true });
  });

  it('is bundles, their maps, a package.json without dependencies, and the licences', () => {
    const files = readdirSync(elsewhere);
    const bundles = files.filter((file) => file.endsWith('.js'));
    expect(bundles).toContain('main.js');
    expect(files.toSorted()).toEqual(
      [
        ...bundles,
        ...bundles.map((file) => `${file}.map`),
        'LICENSE',
        'THIRD-PARTY-NOTICES',
        'package.json',
      ].toSorted(),
    );
    expect(Object.keys(JSON.parse(readFileSync(join(elsewhere, 'package.json'), 'utf8'))).toSorted()).toEqual([
      'license',
      'name',
      'type',
      'version',
    ]);
  });

  it('starts with nothing else, and says which setting it lacks', () => {
    const command = JSON.parse(restsOf(finalStageOf('Dockerfile'), 'ENTRYPOINT')[0] ?? '[]').slice(1);
    const { status, stdout, stderr } = spawnSync(process.execPath, [...command, 'main.js'], {
      cwd: elsewhere,
      env: {},
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([2, '']);
    expect(stdout).toContain('SLACK_BOT_TOKEN is missing');
  });

  it('asks for no module of which a newer Node warns: every line of the log is JSON', () => {
    for (const bundle of readdirSync(elsewhere).filter((file) => file.endsWith('.js')))
      expect(readFileSync(join(elsewhere, bundle), 'utf8'), bundle).not.toMatch(/["'](?:node:)?punycode["']/);
  });

  it('holds no development package, and names the licence of each that it holds', () => {
    const locked = production().map(
      ([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${version}`,
    );
    const notices = readFileSync(join(elsewhere, 'THIRD-PARTY-NOTICES'), 'utf8');
    const named = [...notices.matchAll(/^={80}\n(.+) \((.+)\)$/gm)];
    expect(named.length).toBeGreaterThan(50);
    expect(named.map(([, bundled = '']) => bundled).filter((bundled) => !locked.includes(bundled))).toEqual([]);
    expect(named.filter(([, , license]) => license === 'not stated')).toEqual([]);
  });
});

interface Component {
  readonly name: string;
  readonly hashes: readonly { readonly content: string }[];
}

describe('npm run sbom', () => {
  it('lists every package of production and no other, each with its hash', () => {
    const options = { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' } as const;
    const printed = JSON.parse(execFileSync('npm', ['run', '--silent', 'sbom'], options));
    const hashes = production().map(([, { integrity = '' }]) =>
      Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex'),
    );
    const components = printed.components as readonly Component[];
    expect([printed.bomFormat, printed.metadata.component.name]).toEqual(['CycloneDX', 'kdebug']);
    // Which npm itself leaves out, because development packages need them as well.
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['zod', 'ws', 'yaml']));
    expect(new Set(components.flatMap((each) => each.hashes.map(({ content }) => content)))).toEqual(new Set(hashes));
  });
});

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly integrity?: string;
}

/** The locked packages that are not for development alone, by their path. */
function production(): readonly (readonly [string, LockedPackage])[] {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> };
  return Object.entries(packages).filter(
    // What is in no node_modules is ours: the root and the workspaces, to which the links lead.
    ([path, { dev, link }]) => path.startsWith('node_modules/') && dev !== true && link !== true,
  );
}
