import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { readProjectFile, sourcePaths } from './source-tree.ts';

/** Redact at once what they are given. */
const REDACTORS = new Set(['redactText', 'redactWords', 'redactEnv']);
/** The first filters in turns of the event loop; the second, what one person typed. */
const ALLOWED = ['src/flow/context/foreign-texts.ts', 'src/flow/planning/preflight.ts'];
/** Lists that others make as long as they like. */
const LIST = /\b(?:pods|events|warnings|claims|services|nodes|statuses|versionedPods|siblings)\b/i;
const LOOPS = new Set(['map', 'flatMap', 'filter', 'forEach', 'some', 'every', 'find', 'reduce']);

/** What others wrote in a cluster may be of any length, and takes milliseconds a kilobyte: a loop over it stops everybody. */
function problemsIn(path: string, text: string): readonly string[] {
  if (ALLOWED.includes(path)) return [];
  const problems: string[] = [];
  const isOutside = /^src\/(?:flow|adapters)\//.test(path);
  const redacts = (node: ts.Node): boolean =>
    (ts.isIdentifier(node) && REDACTORS.has(node.text)) || ts.forEachChild(node, redacts) === true;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (isOutside && ts.isImportSpecifier(node) && REDACTORS.has((node.propertyName ?? node.name).text))
      problems.push(`${path} redacts at once: let ForeignTexts do it, in turns`);
    const loop = loopIn(node);
    if (loop && LIST.test(loop.over) && redacts(loop.body))
      problems.push(`${path} redacts all of ${loop.over} at once: make it steps (Steps of lib/turns.ts)`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return problems;
}

function loopIn(node: ts.Node): { readonly over: string; readonly body: ts.Node } | undefined {
  if (ts.isForOfStatement(node) && !hasTurns(node.statement))
    return { over: node.expression.getText(), body: node.statement };
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const [body] = node.arguments;
  const { name, expression } = node.expression;
  return body && LOOPS.has(name.text) ? { over: expression.getText(), body } : undefined;
}

/** Others get their turn within it. */
const hasTurns = (node: ts.Node): boolean =>
  ts.isAwaitExpression(node) || ts.isYieldExpression(node) || ts.forEachChild(node, hasTurns) === true;

describe('what others wrote in a cluster', () => {
  it('is never redacted in a loop that gives nobody a turn', () => {
    const files = sourcePaths();
    expect(files.length).toBeGreaterThan(300);
    expect(files.flatMap((path) => problemsIn(path, readProjectFile(path)))).toEqual([]);
  });

  it.each([
    [
      'in the flow, however it loops',
      'src/flow/context/any.ts',
      "import { redactText as safe } from '../../core/redact/redact-text.ts';",
    ],
    [
      'in an adapter',
      'src/adapters/kubernetes/any.ts',
      "import { redactWords } from '../../core/redact/redact-text.ts';",
    ],
    [
      'by a method',
      'src/core/any.ts',
      'const safe = all.pods.map((pod) => ({ ...pod, message: redactText(pod.message, redact) }));',
    ],
    ['by a function of another name', 'src/core/any.ts', 'const safe = warnings.filter(recent).map(redactText);'],
    [
      'by a statement',
      'src/core/any.ts',
      'for (const { message } of facts.versionedPods) said.push(redactText(message, redact));',
    ],
  ])('would be found %s', (_, path, text) => expect(problemsIn(path, text)).toHaveLength(1));

  it.each([
    ['steps', 'function* f() { for (const { message } of pods) { said.push(redactText(message, [])); yield; } }'],
    ['a list of our own', 'const shown = lines.map((line) => redactText(line, redact));'],
  ])('may be redacted in %s', (_, text) => expect(problemsIn('src/core/any.ts', text)).toEqual([]));
});
