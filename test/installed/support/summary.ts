import type { Reporter, TestModule } from 'vitest/node';
import { hasHelm } from './commands.ts';

const WAY = /installed by (kustomize|helm): (\w+)/;
const WAYS = 4;
const RIGHTS = 'needs what it was given, and was given what it needs';

const FILE = /ways\.test\.ts$/;

/**
 * Prints the one line that says how the installations went, after vitest's own words; the process exits 1 unless all went well. A run of
 * other files says nothing of them.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads a reporter by its default export.
export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (!modules.some(({ moduleId }) => FILE.test(moduleId))) return;
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const of = (tool: string) => tests.filter(({ fullName }) => WAY.exec(fullName)?.[1] === tool);
    const told = tests.filter((test) => WAY.test(test.fullName) && test.result().state !== 'skipped');
    const passed = told.filter((test) => test.result().state === 'passed');
    /** A way counts when none of its tests failed. */
    const ways = (tool: string): number => {
      const names = new Map<string, boolean>();
      for (const test of of(tool)) {
        const name = WAY.exec(test.fullName)?.[2] ?? '';
        const { state } = test.result();
        if (state !== 'skipped') names.set(name, (names.get(name) ?? true) && state === 'passed');
      }
      return [...names.values()].filter(Boolean).length;
    };
    const [byKustomize, byHelm] = [ways('kustomize'), ways('helm')];
    const rights = passed.filter(({ name }) => name === RIGHTS).length === WAYS;
    const right = rights ? 'verbs used = granted' : 'verbs used ≠ granted';
    process.stdout.write(
      `installed in the cluster: ${byKustomize} ways by kustomize, ${byHelm} by helm${hasHelm ? '' : ' (skipped: there is no helm here)'}, stories ${passed.length}/${told.length}, ${right}\n`,
    );
    if (byKustomize < WAYS || (hasHelm && byHelm < WAYS) || !rights || passed.length < told.length)
      process.exitCode = 1;
  }
}
