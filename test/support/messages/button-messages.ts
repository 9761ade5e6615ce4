import { copyCommandMessage, detailsMessage, sameAgainMessage } from '../../../src/core/say/answers/click-messages.ts';
import { refusalMessage } from '../../../src/core/say/answers/private-messages.ts';
import { showMessage } from '../../../src/core/say/answers/run-for-one.ts';
import { aPlan, aRequest, aRun, aTermination, START_MS } from '../builders.ts';
import type { MessageKind } from './kinds.ts';

const ended = aRun({
  state: 'finished',
  outcome: { kind: 'succeeded' },
  plan: aPlan(),
  planHash: '0123456789abcdef',
  decision: { kind: 'allow', rule: 'look' },
  containerName: 'kdebug-abcdefghij-debug',
  imageId: 'registry.example.com/autodiagnose@sha256:feed',
  commandLine: 'web-1 --image=autodiagnose',
  launchedAtMs: START_MS + 1_000,
  startedAtMs: START_MS + 2_000,
  endedAtMs: START_MS + 4_000,
  finishedAtMs: START_MS + 4_500,
  termination: aTermination(),
});
const url = 'https://local.slack.com/archives/C0SHOP/p1795246200000100';
const shown = showMessage(ended, { links: { result: url }, isHidden: false }, []);
const refused = (code: string) =>
  refusalMessage(aRun({ state: 'denied', request: aRequest({ profile: 'sysadmin' }), commandLine: 'web-1' }), {
    code,
    message: 'the rule requires a reason',
    hint: 'Add --reason="…": the approvers will read it.',
    rule: 'attach',
  });

/** What the buttons of a run answer, and the private messages that have buttons. */
export const BUTTON_MESSAGES: readonly MessageKind[] = [
  {
    file: 'private/buttons',
    examples: [
      { name: 'Details', message: detailsMessage(ended, shown) },
      { name: 'Copy command', message: copyCommandMessage(ended, false) },
      { name: 'Copy command, without its secret', message: copyCommandMessage(ended, true) },
      {
        name: 'the same again',
        message: sameAgainMessage(ended, { requestId: ended.id, nowMs: START_MS + 44_500, url }),
      },
      {
        name: 'the same again, without a link',
        message: sameAgainMessage(ended, { requestId: ended.id, nowMs: START_MS + 4_500 }),
      },
      { name: 'Ask for it', message: refused('reason_required') },
    ],
  },
];
