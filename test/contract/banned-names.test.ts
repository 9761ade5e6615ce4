import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { BANNED_NAMES, type BannedName, FOREIGN_NAMES, STORED_NAMES } from './banned-names.ts';
import { sourceOf, sourcePaths, walk } from './source-tree.ts';

interface Declared {
  readonly name: string;
  readonly path: string;
  readonly isType: boolean;
}

/** What gives a name: variables, parameters, functions, classes, types, members and the keys of objects. */
function declaredIn(source: ts.SourceFile, path: string): readonly Declared[] {
  const found: Declared[] = [];
  walk(source, (node) => {
    // An import names what another file declares.
    if (ts.isImportSpecifier(node) || ts.isExportSpecifier(node) || ts.isShorthandPropertyAssignment(node)) return;
    const { name } = node as ts.NamedDeclaration;
    if (!name || !(ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) || ts.isPropertyAccessExpression(node))
      return;
    const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);
    const isField = ts.isPropertySignature(node) || ts.isPropertyAssignment(node);
    if (isField && STORED_NAMES.has(name.text)) return;
    found.push({ name: name.text.replace(/^#/, ''), path, isType });
  });
  return found;
}

const fileName = (path: string): Declared => ({ name: path.replace(/^.*\/|\.ts$/g, ''), path, isType: false });

/** `isKeptLine`, `IS_KEPT` and `is-kept` in lower-case words. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_$-]+/)
    .map((word) => word.toLowerCase());

/** Reason codes and fields of Slack: others read them, so they stay. */
const isWireName = (name: string): boolean => /^[a-z\d]+(_[a-z\d]+)+$/.test(name);

function bans({ word = [], name = [], type = [], except }: BannedName, declared: Declared): boolean {
  if (except?.test(declared.path) || FOREIGN_NAMES.has(declared.name) || isWireName(declared.name)) return false;
  const words = wordsOf(declared.name);
  if (name.includes(declared.name) || words.some((part) => word.includes(part))) return true;
  return declared.isType && type.some((last) => words.at(-1) === last.toLowerCase());
}

/** The banned names among these: where each is declared, and what to call it instead. */
function offendersIn(declared: readonly Declared[]): ReadonlyMap<string, string> {
  const offenders = new Map<string, string>();
  for (const one of declared) {
    const ban = BANNED_NAMES.find((candidate) => bans(candidate, one));
    if (!ban) continue;
    const before = offenders.get(one.name) ?? `${one.name} (instead: ${ban.instead}) in`;
    if (!before.includes(one.path)) offenders.set(one.name, `${before} ${one.path}`);
  }
  return offenders;
}

const paths = sourcePaths();
const offenders = offendersIn(paths.flatMap((path) => [fileName(path), ...declaredIn(sourceOf(path), path)]));

describe('the names declared in src/', () => {
  it('are not among the banned ones', () => {
    expect([...offenders.values()].sort()).toEqual([]);
  });

  it.each([
    ['const placeOf = 1;', 'placeOf'],
    ['interface Row { readonly isKept: boolean }', 'isKept'],
    ['class Inbox { #take() {} }', 'take'],
    ['function f(asked: string) {}', 'asked'],
    ['const { told } = x;', 'told'],
    ['const f = () => ({ said: 1 });', 'said'],
    ['const KEEP_MS = 1;', 'KEEP_MS'],
    ['type LogVerdict = string;', 'LogVerdict'],
    ['const late = 1;', 'late'],
  ])('would be found: %s', (text, name) => {
    const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
    expect([...offendersIn(declaredIn(source, 'src/flow/a.ts')).keys()]).toEqual([name]);
  });

  it.each([
    'const replaced = 1;',
    'const lateEnd = 1;',
    'import { take } from "x";',
    'x.kept;',
    'const task = 1;',
    'const f = { not_taken: 1 };',
    'interface Run { readonly asked?: string }',
  ])('would be left alone: %s', (text) => {
    const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
    expect([...offendersIn(declaredIn(source, 'src/flow/a.ts')).keys()]).toEqual([]);
  });
});
