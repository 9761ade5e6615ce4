import { expect, it } from 'vitest';
import type { LocalCluster } from '../../play/cluster/index.ts';
import { crashFaults } from './crash-faults.ts';
import { effectFaults } from './effect-faults.ts';
import { environmentFaults } from './environment-faults.ts';
import { kubernetesFaults } from './kubernetes-faults.ts';
import { logFaults } from './log-faults.ts';
import { raceFaults } from './race-faults.ts';
import { slackFaults } from './slack-faults.ts';
import { storeFaults } from './store-faults.ts';
import { Board } from './support/board.ts';
import { verbFaults } from './verb-faults.ts';

/** Lists the faults, and plays none. */
class ListBoard extends Board {
  readonly known = new Set<string>();

  override fault(id: string): void {
    this.known.add(id);
  }

  override pending(id: string): void {
    this.known.add(id);
  }
}

it('has a test, or a reason for none, for each fault of performance-reliability.md, section 4.3', () => {
  const board = new ListBoard();
  const none = (): LocalCluster => {
    throw new Error('nothing is played here');
  };
  const parts = [
    crashFaults,
    effectFaults,
    environmentFaults,
    kubernetesFaults,
    logFaults,
    raceFaults,
    slackFaults,
    storeFaults,
    verbFaults,
  ];
  for (const part of parts) part(board, none);
  const all = Array.from({ length: 57 }, (_, index) => `F${String(index + 1).padStart(2, '0')}`);
  expect([...board.known].sort()).toEqual(all);
});
