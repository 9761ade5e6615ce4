import { describe, expect, it } from 'vitest';
import { asUserId } from '../../../../src/core/ids.ts';
import type { Run } from '../../../../src/core/run/run.ts';
import { decisionMessage } from '../../../../src/core/say/parts/approval-parts.ts';
import { copyMessage } from '../../../../src/core/say/run/copy-messages.ts';
import { anchorMessage } from '../../../../src/core/say/run/run-messages.ts';
import { aPlan, aRun, START_MS } from '../../../support/builders.ts';
import { textOf } from '../../../support/plain-message.ts';

const BOB = asUserId('U0BOB');
const MOMENT = { approvers: { sre: { users: [BOB] } }, nowMs: START_MS };

const RULE = { rule: 'attach', from: ['sre'], count: 2, voteReason: 'optional', grants: 'denied' } as const;

const asked = (parts: Partial<Run> = {}): Run =>
  aRun({
    state: 'pending-approval',
    plan: aPlan(),
    approval: { ...RULE, expiresAtMs: START_MS + 60_000, votes: [] },
    ...parts,
  });

const approve = { userId: BOB, kind: 'approve', atMs: START_MS } as const;

describe('the copy of a card', () => {
  it('says once that an approval is needed', () => {
    const { summary } = copyMessage(asked(), MOMENT, undefined);
    expect(summary.match(/approval needed/gi)).toHaveLength(1);
    expect(summary).toBe(anchorMessage(asked(), MOMENT).summary);
  });

  it('has the buttons of those who decide, and not the one of who asked', () => {
    const buttonsOf = ({ parts }: ReturnType<typeof copyMessage>) =>
      parts.flatMap((part) => (part.kind === 'actions' ? part.buttons.map(({ action }) => action) : []));
    expect(buttonsOf(anchorMessage(asked(), MOMENT))).toContain('cancel');
    expect(buttonsOf(copyMessage(asked(), MOMENT, undefined))).toEqual(
      buttonsOf(anchorMessage(asked(), MOMENT)).filter((action) => action !== 'cancel'),
    );
  });
});

describe('the end of a request', () => {
  it('that expired with some of its approvals does not say that there were none', () => {
    const none = asked({ state: 'expired' });
    const { approval } = none;
    if (!approval) throw new Error('it was asked for');
    const one = { ...none, approval: { ...approval, votes: [approve] } };
    for (const say of [decisionMessage, (run: Run) => copyMessage(run, MOMENT, undefined)]) {
      expect(textOf(say(none))).toContain('nobody approved it in time');
      expect(textOf(say(one))).toContain('1 of 2 approvals came in time');
      expect(JSON.stringify(say(one))).not.toContain('nobody');
    }
  });

  it('that was withdrawn is called the same in the channel, in the thread and in the copies', () => {
    const run = asked({ state: 'cancelled' });
    const said = [anchorMessage(run, MOMENT), decisionMessage(run), copyMessage(run, MOMENT, undefined)];
    for (const { summary } of said) expect(summary).toMatch(/^Withdrawn: /);
  });
});
