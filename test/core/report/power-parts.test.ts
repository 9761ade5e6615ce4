import { describe, expect, it } from 'vitest';
import { view } from '../../../src/adapters/slack/views/view.ts';
import { batchPlanHash } from '../../../src/core/batch/new-batch.ts';
import { planHash } from '../../../src/core/container/plan.ts';
import type { Message } from '../../../src/core/report/message.ts';
import { anchorMessage } from '../../../src/core/report/run-messages.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { anApproval, aPlan, aRun, START_MS } from '../../support/builders.ts';
import { aBatchRun, type BatchRunParts } from './batch/a-batch-run.ts';

const PENDING = { state: 'pending-approval', approval: anApproval() } as const;
const cardOf = (run: Run): Message => anchorMessage(run, { approvers: {}, nowMs: START_MS });

/** The words of the card as Slack gets them, without their marks. */
const shown = (run: Run): string =>
  JSON.stringify(view(cardOf(run)).blocks, (key, value) => (key === 'type' ? undefined : value)).replace(
    /\{"text":|"style":\{[^}]*\}|[{}[\]]/g,
    '',
  );
const single = (parts: Parameters<typeof aPlan>[0]): Run => aRun({ ...PENDING, plan: aPlan(parts) });

/** A batch of one image with these containers in each pod. */
function batchOf(containers: readonly Parameters<typeof aPlan>[0][], parts: BatchRunParts = {}): Run {
  const run = aBatchRun({ ...parts, run: { ...PENDING, commandLine: 'apply two -n shop', ...parts.run } });
  return { ...run, batch: { ...run.batch, variants: [containers.map((container) => aPlan(container))] } };
}

describe('the card of what waits for an approval', () => {
  it('has every variable of a run, one a line', () => {
    const env = [
      { name: 'LD_PRELOAD', value: '/x.so' },
      { name: 'SCRIPT', value: 'one\nEXTRA=two\r\nthree' },
    ];
    expect(cardOf(single({ env })).parts).toContainEqual({
      kind: 'preformatted',
      text: 'LD_PRELOAD=/x.so\nSCRIPT=one⏎EXTRA=two⏎three',
    });
    expect(JSON.stringify(cardOf(aRun({ state: 'approved', plan: aPlan({ env }) })))).not.toContain('LD_PRELOAD');
  });

  it('has the variables, the words and the target of each container of a job, which its typed line does not name', () => {
    const text = shown(
      batchOf([
        { label: 'a', command: ['id'], env: [{ name: 'SECRET_CMD', value: 'rm -rf /' }] },
        { label: 'b', command: ['--wipe'], argumentsOnly: true, targetContainerName: 'db' },
      ]),
    );
    expect(text).toContain('SECRET_CMD=rm -rf /');
    expect(text).toMatch(/ with the arguments .*--wipe/);
    expect(text).toMatch(/Target container.*web.*Target container.*db/);
  });

  it.each([
    [{ request: { target: { kind: 'selector', selector: 'app=web' } } }, /Selects.*app=web/],
    [{ request: { target: { kind: 'all' } } }, /Selects.*every pod of the namespace/],
    [{ request: { target: { kind: 'workload', workload: 'deployment', name: 'web' } } }, /Selects.*deployment\/web/],
    [{ run: { rerunOf: aRun().id } }, /Selects.*the pods of batch abcdefghij that did not succeed/],
  ] satisfies [BatchRunParts, RegExp][])('says which pods a batch selects (%j)', (parts, words) => {
    expect(shown(batchOf([{}], parts))).toMatch(words);
  });

  it('has every name however long the values and the command are, and says what is cut', () => {
    const env = Array.from({ length: 40 }, (_, index) => ({ name: `NAME_${index}`, value: '€'.repeat(4_000) }));
    const command = ['echo', 'x'.repeat(12_000)];
    for (const run of [single({ env, command }), batchOf([{ env, command }])]) {
      const text = shown(run);
      for (const { name } of env) expect(text).toMatch(new RegExp(`${name}=€*… [\\d,]+ characters more`));
      expect(text).toContain('40 variables');
      expect(text).toMatch(/Class.*observe/);
      expect(text).toContain('Approve');
    }
  });

  it('is of a plan whose hash covers the variables', () => {
    const env = [{ name: 'A', value: 'b' }];
    expect(planHash(aPlan({ env }))).not.toBe(planHash(aPlan()));
    const [one, other] = [batchOf([{ env }]).batch!, batchOf([{}]).batch!];
    expect(batchPlanHash(one)).not.toBe(batchPlanHash(other));
  });
});
