import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { importsOf, readProjectFile, sourceOf, sourcePaths, walk } from './source-tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAX_STOPS = 12;

/**
 * One numbered line of a walk: `file` `name` (from N, through `a`, `b`, as `c`): prose. Without `from`, the stop before calls it.
 * A name is a function, a constant, `Class.method` or `Class.constructor`.
 */
interface Stop {
  readonly line: string;
  readonly path: string;
  readonly name: string;
  /** The index of the stop that calls this one; undefined for the first. */
  readonly from: number | undefined;
  /** Names in the caller's file that lead here, each used by the one before. */
  readonly through: readonly string[];
  /** The name under which the caller was given this function. */
  readonly as: string | undefined;
}

interface Walk {
  readonly title: string;
  readonly stops: readonly Stop[];
}

/** The walks of docs/architecture.md: each `###` of the section `## Three walks`. */
function walksOf(page: string): readonly Walk[] {
  const section = page.split(/^## /m).find((part) => part.startsWith('Three walks')) ?? '';
  return section
    .split(/^### /m)
    .slice(1)
    .map((part) => {
      // A stop goes on over indented lines.
      const lines = [...part.matchAll(/^\d+\. (.*(?:\n {2,}.*)*)/gm)].map(([, line]) => line ?? '');
      return { title: part.split('\n', 1)[0] ?? '', stops: lines.map(stopOf) };
    });
}

function stopOf(text: string, index: number): Stop {
  const line = text.replace(/\s+/g, ' ');
  const [, path = '', name = '', way = ''] = /^`([^`]+)` `([^`]+)`(?: \(([^)]*)\))?:/.exec(line) ?? [];
  const [, from = index] = /from (\d+)/.exec(way) ?? [];
  const as = /as `([^`]+)`/.exec(way)?.[1];
  const through = [...way.replace(/as `[^`]+`/, '').matchAll(/`([^`]+)`/g)].map(([, hop]) => hop ?? '');
  return { line, path, name, from: index === 0 ? undefined : Number(from) - 1, through, as };
}

const nameOf = (node: ts.Node): string | undefined => {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const { name } = node as ts.NamedDeclaration;
  return name && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) ? name.text : undefined;
};

/** What runs: neither a type nor the first half of an overload. */
function hasBody(node: ts.Node): boolean {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) return node.body !== undefined;
  return !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node);
}

/** The top-level declaration, or the member of a class, that `name` stands for. */
function declarationOf(path: string, name: string): ts.Node | undefined {
  if (!existsSync(`${ROOT}${path}`)) return undefined;
  const [head, member] = name.split('.');
  const declared = sourceOf(path).statements.flatMap((statement): readonly ts.Node[] =>
    ts.isVariableStatement(statement) ? [...statement.declarationList.declarations] : [statement],
  );
  const found = declared.find((node) => nameOf(node) === head && hasBody(node));
  if (member === undefined || !found) return found;
  if (!ts.isClassDeclaration(found)) return undefined;
  return found.members.find((candidate) => nameOf(candidate) === member && hasBody(candidate));
}

interface Target {
  readonly path: string;
  readonly name: string;
}

/** A variable of any function of the file: what is handed on under a name, such as a port that a constructor makes. */
function variableIn(path: string, name: string): ts.Node | undefined {
  let found: ts.Node | undefined;
  walk(sourceOf(path), (node) => {
    if (ts.isVariableDeclaration(node) && node.initializer && nameOf(node) === name) found ??= node;
  });
  return found;
}

/** A hop in the file of `caller`: a method of the same class, or what the name says. */
function hopFrom({ path, name }: Target, hop: string): Target {
  const [owner] = name.split('.');
  const method = { path, name: `${owner}.${hop}` };
  return name.includes('.') && declarationOf(path, method.name) ? method : { path, name: hop };
}

/** Whether the code of `caller` uses `target`: calls it, makes it with `new`, or hands it on by name. */
function uses(caller: Target, target: Target): boolean {
  const [head = '', member] = target.name.split('.');
  const isNear = target.path === caller.path || importsOf(caller.path).includes(target.path);
  const root = declarationOf(caller.path, caller.name) ?? variableIn(caller.path, caller.name);
  let found = false;
  const look = (node: ts.Node): void => {
    // A method is reached by its name, through a port if need be; a function only by its import.
    if (member === 'constructor') found ||= ts.isNewExpression(node) && node.expression.getText() === head;
    else if (member !== undefined) found ||= ts.isPropertyAccessExpression(node) && node.name.text === member;
    else found ||= isNear && ts.isIdentifier(node) && node.text === head && node.parent !== root;
  };
  if (root) walk(root, look);
  return found;
}

/** Whether the code of `caller` calls a member `as`, and some file gives it `target` under that name. */
function usesAs(caller: Target, target: Target, as: string): boolean {
  if (!uses(caller, { path: '', name: `_.${as}` })) return false;
  return sourcePaths().some((path) => {
    const wiring = importsOf(path).includes(target.path) ? variableIn(path, as) : undefined;
    return wiring?.getText().includes(`${target.name}(`) ?? false;
  });
}

/** The links on the way to a stop that the code does not have. */
function brokenLinks(stops: readonly Stop[], stop: Stop): readonly string[] {
  const caller = stop.from === undefined ? undefined : stops[stop.from];
  if (!caller) return stop.from === undefined ? [] : [`no stop ${stop.from + 1}: ${stop.line}`];
  const chain: Target[] = [caller];
  for (const hop of stop.through) chain.push(hopFrom(chain.at(-1) ?? caller, hop));
  return [...chain, stop].flatMap((target, index) => {
    const before = chain[index - 1];
    const isGiven = target === stop && stop.as !== undefined;
    if (!before || (isGiven ? usesAs(before, stop, stop.as ?? '') : uses(before, target))) return [];
    return [`${before.path} ${before.name} does not use ${target.name} of ${target.path}`];
  });
}

const walks = walksOf(readProjectFile('docs/architecture.md'));

describe('the walks of docs/architecture.md', () => {
  it('are three, of at most twelve stops each', () => {
    expect(walks).toHaveLength(3);
    for (const { title, stops } of walks) {
      expect(stops.length, title).toBeGreaterThan(5);
      expect(stops.length, title).toBeLessThanOrEqual(MAX_STOPS);
    }
  });

  it.each(walks)('$title: every file and function exists', ({ stops }) => {
    const missing = stops.filter(({ path, name }) => !declarationOf(path, name));
    expect(missing.map(({ line }) => line)).toEqual([]);
  });

  it.each(walks)('$title: every stop is called by the one before it, or by the one that it names', ({ stops }) => {
    expect(stops.flatMap((stop) => brokenLinks(stops, stop))).toEqual([]);
  });

  it('would not pass with a stop of another walk, or without what leads there', () => {
    for (const { stops } of walks) {
      const [first, second, third] = stops;
      if (!first || !second || !third) throw new Error('too few stops');
      expect(brokenLinks([third, { ...first, from: 0 }], { ...first, from: 0 })).not.toEqual([]);
      const detours = stops.filter(({ through }) => through.length > 0);
      expect(detours.flatMap((stop) => brokenLinks(stops, { ...stop, through: [] })).length).toBe(detours.length);
      expect(declarationOf(first.path, 'noSuchFunction')).toBeUndefined();
    }
  });
});
