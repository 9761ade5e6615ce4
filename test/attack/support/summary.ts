import { readdirSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

const FINDINGS = 21;
/** As in `othersAreAnswered`: the bound that issue 13 names. */
const MAX_BLOCKED_MS = 1_000;

const FILES = readdirSync(new URL('..', import.meta.url)).filter((name) => name.endsWith('.test.ts'));

/**
 * Prints the one line that says how the attacks went, after vitest's own words; the process exits 1 unless all is closed. A run of some
 * files is judged by the findings that these attack.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads a reporter by its default export.
export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const attacks = tests.flatMap((test) => {
      const { attack } = test.meta();
      return attack ? [{ test, ...attack }] : [];
    });
    const isWhole = modules.length >= FILES.length;
    const isAttacked = (number: number): boolean => attacks.some(({ finding }) => finding === number);
    const numbers = Array.from({ length: FINDINGS }, (_, at) => at + 1).filter((one) => isWhole || isAttacked(one));
    const closed = numbers.filter((number) => isClosed(attacks.filter(({ finding }) => finding === number)));
    const launches = attacks.reduce((sum, attack) => sum + attack.launches, 0);
    const blockedMs = Math.ceil(Math.max(0, ...attacks.map((attack) => attack.blockedMs)));
    process.stdout.write(
      `findings ${closed.length}/${numbers.length} closed · launches without approval ${launches} · event loop blocked at most ${blockedMs} ms\n`,
    );
    if (closed.length < numbers.length || launches > 0 || blockedMs >= MAX_BLOCKED_MS) process.exitCode = 1;
  }
}

const isClosed = (attacks: readonly { readonly test: TestCase }[]): boolean =>
  attacks.length > 0 && attacks.every(({ test }) => test.result().state === 'passed');
