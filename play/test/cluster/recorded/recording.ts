import { readFileSync } from 'node:fs';
import type { Answers } from './play.ts';
import type { Answer } from './scenario.ts';

/** What a real cluster answered, and which one. */
export interface Recording {
  readonly recorded: {
    readonly date: string;
    readonly server: string;
    readonly kubectl: string;
    readonly runtime: string;
  };
  readonly answers: Answers;
}

/** One JSON value a line: the cluster first, then `[scenario, step, answer]`; a changed answer is one changed line. */
export function recordingText({ recorded, answers }: Recording): string {
  const lines = Object.entries(answers).flatMap(([scenario, steps]) =>
    Object.entries(steps).map(([step, answer]) => JSON.stringify([scenario, step, answer])),
  );
  return `${JSON.stringify(recorded)}\n${lines.join('\n')}\n`;
}

export function readRecording(path: URL): Recording {
  const [head = '', ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
  const recorded: Recording['recorded'] = JSON.parse(head);
  const answers: Record<string, Record<string, Answer>> = {};
  for (const line of lines) {
    const [scenario, step, answer]: [string, string, Answer] = JSON.parse(line);
    answers[scenario] = { ...answers[scenario], [step]: answer };
  }
  return { recorded, answers };
}
