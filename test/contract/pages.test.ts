import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readProjectFile } from './source-tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Every page but the CHANGELOG, which names what there was. */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path.replaceAll('\\', '/')}`),
];

const broken = (found: (text: string) => readonly string[], resolve: (page: string, path: string) => string) =>
  pages.flatMap((page) =>
    found(readProjectFile(page))
      .filter((path) => !existsSync(join(ROOT, resolve(page, path))))
      .map((path) => `${page}: ${path}`),
  );

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (path: string): ReadonlySet<string> =>
  new Set(
    [...readProjectFile(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

describe('the pages', () => {
  it('name only files and folders that exist', () => {
    const named = (text: string) =>
      [...text.matchAll(/`((?:src|test|play|images|manifests|scripts|schema|bench)\/[\w./-]+)`/g)].map(
        ([, path]) => path ?? '',
      );
    expect(pages.flatMap((page) => named(readProjectFile(page))).length).toBeGreaterThan(50);
    expect(broken(named, (_, path) => path)).toEqual([]);
  });

  it('link only to files that exist', () => {
    const linked = (text: string) =>
      [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map(([, path]) => path ?? '')
        .filter((path) => !/[…<]/.test(path));
    expect(broken(linked, (page, path) => normalize(join(dirname(page), path)))).toEqual([]);
  });

  it('link only to headings that exist', () => {
    const wrong = pages.flatMap((page) =>
      [...readProjectFile(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
        .map(([, path = '', anchor = '']) => ({
          path: path === '' ? page : normalize(join(dirname(page), path)),
          anchor,
        }))
        .filter(({ path, anchor }) => path.endsWith('.md') && !anchorsOf(path).has(anchor))
        .map(({ path, anchor }) => `${page}: ${path}#${anchor}`),
    );
    expect(wrong).toEqual([]);
  });
});

/** What `src/` and `test/` declare: files by their last path parts, and every identifier. */
function knownNames(): { readonly files: readonly string[]; readonly identifiers: ReadonlySet<string> } {
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`),
  );
  const texts = files.filter((path) => path.startsWith('src/')).map(readProjectFile);
  return { files, identifiers: new Set(texts.flatMap((text) => text.match(/#?[A-Za-z_$][\w$]*/g) ?? [])) };
}

describe('docs/faults.md', () => {
  const rows = readProjectFile('docs/faults.md')
    .split('\n')
    .filter((line) => /^\| F\d/.test(line));

  it('names guards that exist', () => {
    const { files, identifiers } = knownNames();
    const exists = (name: string): boolean =>
      name.endsWith('.ts')
        ? files.some((path) => path === name || path.endsWith(`/${name}`))
        : name.split('.').every((part) => identifiers.has(part));
    const named = rows.flatMap((row) =>
      [...row.matchAll(/`([#\w./-]+)`/g)].map(([, name]) => ({ row, name: name ?? '' })),
    );
    expect(named.length).toBeGreaterThan(50);
    const missing = named.filter(({ name }) => !exists(name) && !/^\d|^Retry-After$|^ts$/.test(name));
    expect(missing.map(({ row, name }) => `${row.slice(0, 8)}: ${name}`)).toEqual([]);
  });
});
