import { afterAll, beforeAll, inject } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../../play/cluster/index.ts';
import { Board } from './board.ts';

/** Tests of one part of the matrix, on one cluster; what became of them goes into the line of all parts (boards.ts). */
export function testFaults(
  part: string,
  ...groups: readonly ((board: Board, cluster: () => LocalCluster) => void)[]
): void {
  const board = new Board();
  let cluster: LocalCluster;

  beforeAll(async () => {
    cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  });

  afterAll(async () => {
    await cluster.stop();
    board.save(inject('boards'), part);
  });

  for (const group of groups) group(board, () => cluster);
}
