import { labelOf } from '../../diagnosis/verdict.ts';
import type { Run } from '../../run/run.ts';
import { canBeStopped, isStopping } from '../../run/stop.ts';
import type { Button, Part } from '../message.ts';

/** Where buttons are shown: on the run's card in the channel, or on the result in its thread. */
export type Surface = 'card' | 'result';

/** What a person may do next with this run. Each is decided afresh for whoever clicks. */
function runButtons(run: Run, surface: Surface): readonly Button[] {
  const { id, verdict } = run;
  if (surface === 'card') return canBeStopped(run) && !isStopping(run) ? [stopButton(run)] : [];
  const again = verdict?.lookAgain;
  return again ? [{ action: 'look-again', label: labelOf(again), value: id }] : [];
}

const stopButton = ({ id }: Run): Button => ({
  action: 'stop',
  label: 'Stop',
  value: id,
  style: 'danger',
  confirm: {
    title: 'Stop this run?',
    text: 'Its processes get a signal to end. The log so far is kept.',
    yes: 'Stop it',
    no: 'Keep running',
  },
});

/** The buttons as a part; none without buttons. */
export function runButtonsPart(run: Run, surface: Surface): readonly Part[] {
  const buttons = runButtons(run, surface);
  return buttons.length === 0 ? [] : [{ kind: 'actions', buttons }];
}
