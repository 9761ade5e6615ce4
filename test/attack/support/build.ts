import type { TestProject } from 'vitest/node';
import { buildProgram } from '../../support/program/built-program.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** What `npm start` starts, as built for this suite. */
    readonly main: string;
  }
}

/** Builds the program once for all attacks. */
export async function setup(project: TestProject): Promise<() => void> {
  const program = await buildProgram();
  project.provide('main', program.main);
  return () => program.remove();
}
