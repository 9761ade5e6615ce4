import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const readProjectFile = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Every TypeScript file under `src`, as a path from the project's root. */
export function sourcePaths(): readonly string[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
    .sort();
}

const parsed = new Map<string, ts.SourceFile>();

/** The syntax tree of a file of the project. */
export function sourceOf(path: string): ts.SourceFile {
  const known = parsed.get(path);
  if (known) return known;
  const source = ts.createSourceFile(path, readProjectFile(path), ts.ScriptTarget.Latest, true);
  parsed.set(path, source);
  return source;
}

/** Calls `visit` for the node and everything in it. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** The paths of the project's own files that a file imports or re-exports; `values`: without those of which it needs types alone. */
export function importsOf(path: string, which: 'all' | 'values' = 'all'): readonly string[] {
  return sourceOf(path).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    if (which === 'values' && ts.isImportDeclaration(statement) && statement.importClause?.isTypeOnly) return [];
    const { moduleSpecifier } = statement;
    if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier) || !moduleSpecifier.text.startsWith('.')) return [];
    return [join(path, '..', moduleSpecifier.text).replaceAll('\\', '/')];
  });
}
