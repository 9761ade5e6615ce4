import { labelOf } from '../../diagnosis/verdict.ts';
import type { Run } from '../../run/run.ts';
import type { Button, Part } from '../message.ts';

/** Where buttons are shown: on the run's card in the channel, or on the result in its thread. */
export type Surface = 'card' | 'result';

/** What a person may do next with this run. Each is decided afresh for whoever clicks. */
function runButtons({ id, verdict }: Run, surface: Surface): readonly Button[] {
  const again = surface === 'result' ? verdict?.lookAgain : undefined;
  return again ? [{ action: 'look-again', label: labelOf(again), value: id }] : [];
}

/** The buttons as a part; none without buttons. */
export function runButtonsPart(run: Run, surface: Surface): readonly Part[] {
  const buttons = runButtons(run, surface);
  return buttons.length === 0 ? [] : [{ kind: 'actions', buttons }];
}
