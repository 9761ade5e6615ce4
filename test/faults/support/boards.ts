import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type BoardFacts, reportOf } from './board.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder in which each part of the fault matrix leaves what became of its faults. */
    boards: string;
  }
}

/** vitest's global setup: prints one line of all parts of the fault matrix that were played. */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'kdebug-boards-'));
  project.provide('boards', folder);
  return () => {
    const parts = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as BoardFacts);
    if (parts.length > 0) process.stdout.write(`\n${reportOf(parts)}\n`);
    rmSync(folder, { recursive: true });
  };
}
