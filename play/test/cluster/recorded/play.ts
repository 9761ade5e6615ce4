import { runScenario, type Surroundings } from './run.ts';
import type { Answer, Scenario } from './scenario.ts';

/** Answers by scenario and step. */
export type Answers = Readonly<Record<string, Readonly<Record<string, Answer>>>>;

/** Plays scenarios side by side, `width` at a time. */
export async function playAll(
  scenarios: readonly Scenario[],
  surroundings: Surroundings,
  width: number,
): Promise<Answers> {
  const answers = new Map<string, Record<string, Answer>>();
  const left = [...scenarios];
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift())
      answers.set(next.name, await runScenario(next, surroundings));
  };
  await Promise.all(Array.from({ length: width }, worker));
  return Object.fromEntries(scenarios.map(({ name }) => [name, answers.get(name) ?? {}]));
}
