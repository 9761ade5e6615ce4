import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/compose.ts';
import { parseCommand } from '../../src/core/command/parse.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Files under version control and those that would be; undefined where this is no git repository. */
function projectFiles(): readonly string[] | undefined {
  try {
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
    return listed
      .split('\n')
      .filter((path) => path !== '' && existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isFile());
  } catch {
    console.warn('skipped: this is no git repository');
    return undefined;
  }
}

interface LockedPackage {
  readonly optionalDependencies?: Record<string, string>;
}

const files = projectFiles();
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

describe('the repository', () => {
  it.runIf(files)('holds no path of one machine', () => {
    // Put together here, so that this file does not find itself.
    const places = ['work', 'farm', 'root'].join('|');
    const machinePath = new RegExp(`(?<![\\w.:/*$})-])/(?:${places})/`);
    const found = (files ?? [])
      .filter((path) => !/\.(png|gif|svg|ico|woff2?)$/.test(path))
      .filter((path) => machinePath.test(read(path)));
    expect(found).toEqual([]);
  });

  it('keeps registry addresses out of the lock file', () => {
    expect(read('package-lock.json')).not.toContain('"resolved": "http');
    expect(read('.npmrc')).toContain('omit-lockfile-registry-resolved=true');
  });

  it('locks the packages of every platform, not only of the one that it was made on', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> };
    const missing = Object.values(packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => !Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`)));
    // npm ci refuses such a lock file.
    expect(missing).toEqual([]);
  });

  it('has one version', () => {
    expect(JSON.parse(read('package.json')).version).toBe(VERSION);
    const kustomizations = readdirSync(join(ROOT, 'manifests'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('kustomization.yaml'))
      .map((path) => read(`manifests/${path}`));
    const tags = kustomizations.flatMap((text) => [...text.matchAll(/newTag: (.*)/g)].map(([, tag]) => tag));
    expect(tags.length).toBeGreaterThan(4);
    expect(new Set([VERSION, ...tags])).toEqual(new Set([VERSION]));
  });
});

describe('the README', () => {
  const readme = read('README.md');
  const firstScreen = readme.split('\n').slice(0, 40).join('\n');

  it('shows the two commands of a newcomer on its first screen, each in a block of its own', () => {
    expect(firstScreen).toContain('```sh\nnpm ci && npm run play\n```');
    expect(firstScreen).toContain('```sh\nnpm ci && npm test\n```');
  });

  it('names only scripts that there are', () => {
    const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/npm run ([a-z][a-z0-9:-]*)/g)].map(([, name]) => name ?? ''),
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !scripts.includes(name))).toEqual([]);
  });

  it('shows only commands that parse', () => {
    const blocks = [...readme.matchAll(/```text\n([\s\S]*?)```/g)].map(([, block]) => block ?? '').join('\n');
    const lines = blocks.split('\n').filter((line) => line.startsWith('/kdebug'));
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.map((line) => [line, parseCommand(line.slice('/kdebug'.length)).kind])).toEqual(
      lines.map((line) => [line, 'ok']),
    );
  });

  it('and the other pages link only to files that there are', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)]
        .map(([, target]) => normalize(join(dirname(page), target ?? '')))
        .filter((target) => !existsSync(join(ROOT, target)))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('ends with a choice of six lines; docs/README.md has every page', () => {
    const [, more = ''] = readme.split('## More\n');
    expect(more.match(/^- /gm)).toHaveLength(6);
    const index = read('docs/README.md');
    const missing = pages.filter(
      (page) => page.startsWith('docs/') && !index.includes(`](${page.slice('docs/'.length)})`),
    );
    expect(missing).toEqual(['docs/README.md']);
  });
});

describe('the examples of docs/commands.md', () => {
  it('parse', () => {
    const examples = [...read('docs/commands.md').matchAll(/\| `\/kdebug ([^`]+)` \|$/gm)].map(([, words]) =>
      (words ?? '').replaceAll('\\|', '|'),
    );
    expect(examples.length).toBeGreaterThan(20);
    expect(examples.filter((words) => parseCommand(words).kind !== 'ok')).toEqual([]);
  });
});
