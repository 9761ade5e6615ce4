import { beforeEach, describe, expect, it } from 'vitest';
import { asChannelId, asRunId } from '../../../src/core/ids.ts';
import { aBatchRun, type BatchRunParts, ended } from '../../core/say/batch/a-batch-run.ts';
import { anApproval, aPolicy, approvalTerms, aRule, aRun } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { DeskWorld, textOf } from './desk-world.ts';

const POLICY = aPolicy({
  approvers: { sre: { usergroup: 'S0SRE', users: [] } },
  channels: {
    [asChannelId('C0SHOP')]: { rules: [aRule({ batch: { maxPods: 50, maxParallelism: 5 } })] },
  },
});

let desk: DeskWorld;
beforeEach(() => {
  desk = new DeskWorld();
  desk.world.policy = POLICY;
});

async function kept(parts: BatchRunParts = {}) {
  const run = aBatchRun(parts);
  await desk.keep(run);
  return run;
}

const CHANGES = ['pause', 'cancel', 'resize'] as const;

describe('a batch’s buttons', () => {
  it('pause holds it, resume lets it go on, and the dashboard needs no words', async () => {
    const run = await kept();
    expect(await desk.click('pause', run)).toEqual({ kind: 'nothing' });
    expect((await desk.now(run)).batch?.paused?.byUserId).toBe('U0ROY');
    expect(await desk.click('resume', run)).toEqual({ kind: 'nothing' });
    expect((await desk.now(run)).batch?.paused).toBeUndefined();
    expect(desk.recorded()).toEqual([
      { actorId: 'U0ROY', kind: 'pause', verdict: 'allowed' },
      { actorId: 'U0ROY', kind: 'resume', verdict: 'allowed' },
    ]);
  });

  it('pause of what is paused changes nothing, says so, and leaves no record of a change', async () => {
    const run = await kept();
    await desk.click('pause', run);
    for (let n = 0; n < 3; n += 1) expect(textOf(await desk.click('pause', run))).toContain('batch_unchangeable');
    expect(desk.recorded()).toEqual([{ actorId: 'U0ROY', kind: 'pause', verdict: 'allowed' }]);
  });

  it('cancel ends what was not started', async () => {
    const run = await kept({ events: [{ kind: 'launched', index: 0 }] });
    await desk.click('cancel', run);
    expect((await desk.now(run)).batch?.closed).toMatchObject({ because: 'cancelled', byUserId: 'U0ROY' });
    expect((await desk.now(run)).state).toBe('running');
  });

  it('continue lets the others follow the canary, and is refused before its end', async () => {
    const canary = { request: { batch: { canary: true } } };
    const early = await kept({ ...canary, run: { id: asRunId('earlyearly') } });
    expect(textOf(await desk.click('continue', early))).toContain('batch_unchangeable');
    const run = await kept({ ...canary, events: ended(0, 0) });
    expect(run.batch.canary).toBe('waiting');
    expect(await desk.click('continue', run)).toEqual({ kind: 'nothing' });
    expect((await desk.now(run)).batch?.canary).toBe('continued');
  });

  it.each(CHANGES)('%s of another message, channel or run is stale', async (action) => {
    const run = await kept();
    for (const over of [{ messageTs: '2.0' }, { channelId: 'C0OTHER' }]) {
      expect(textOf(await desk.click(action, run, over))).toContain('button_stale');
    }
    expect((await desk.now(run)).batch).toEqual(run.batch);
  });

  it.each(CHANGES)('%s by somebody else is refused privately, and on record', async (action) => {
    const run = await kept();
    expect(textOf(await desk.click(action, run, { userId: 'U0EVE' }))).toContain('not_your_batch');
    expect((await desk.now(run)).batch).toEqual(run.batch);
    expect(desk.recorded()).toEqual([{ actorId: 'U0EVE', kind: action, verdict: 'not_your_batch' }]);
  });

  it('an approver of its rule may, by the user group as it is now', async () => {
    const run = await kept({ run: { approval: anApproval() } });
    expect(await desk.click('pause', run, { userId: 'U0BOB' })).toEqual({ kind: 'nothing' });
    desk.world.directory.groups.set('S0SRE', new Set());
    expect(textOf(await desk.click('resume', run, { userId: 'U0BOB' }))).toContain('not_your_batch');
  });

  it('nothing happens without a record', async () => {
    const run = await kept();
    desk.world.audit.faults.add('batch', 'audit_unavailable');
    expect(textOf(await desk.click('pause', run))).toContain('audit_unavailable');
    expect((await desk.now(run)).batch?.paused).toBeUndefined();
  });

  it('a batch that is over, or held by another replica, says so', async () => {
    const over = await kept({ size: 1, events: ended(0, 0) });
    expect(textOf(await desk.click('pause', over))).toContain('batch_unchangeable');
    const run = await kept({ run: { id: asRunId('otherother') } });
    desk.isElsewhere = true;
    expect(textOf(await desk.click('pause', run))).toContain('batch_elsewhere');
  });

  it('cancel of a batch that waits for its approval is that of any request', async () => {
    const run = await kept({ run: { state: 'pending-approval', approval: anApproval() } });
    expect(textOf(await desk.click('cancel', run, { userId: 'U0EVE' }))).toContain('not_your_request');
    await desk.click('cancel', run);
    expect((await desk.now(run)).state).toBe('cancelled');
  });
});

describe('changing its size', () => {
  it('opens a form with the two numbers that may change', async () => {
    const run = await kept({ request: { batch: { canary: false, parallelism: 2, replicas: 3 } } });
    expect(await desk.click('resize', run)).toMatchObject({
      kind: 'form',
      form: {
        name: 'resize-batch',
        value: run.id,
        fields: [
          { id: 'parallelism', initial: '2' },
          { id: 'replicas', initial: '3' },
        ],
      },
    });
    const over = await kept({ size: 1, events: ended(0, 0), run: { id: asRunId('otherother') } });
    expect(textOf(await desk.click('resize', over))).toContain('batch_unchangeable');
  });

  it('takes only what differs, and asks the policy before it grows', async () => {
    const run = await kept();
    expect(await desk.submit('resize-batch', run.id, { parallelism: '5' })).toEqual({ kind: 'taken' });
    expect((await desk.now(run)).batch).toMatchObject({ parallelism: 5 });
    const told = await desk.submit('resize-batch', run.id, { parallelism: '6' });
    expect(JSON.stringify(told)).toContain('parallelism_not_allowed');
    expect((await desk.now(run)).batch).toMatchObject({ parallelism: 5 });
    await desk.submit('resize-batch', run.id, { parallelism: '5', replicas: '2' });
    expect((await desk.now(run)).batch).toMatchObject({ parallelism: 5, replicas: 2 });
    expect(desk.recorded().map((facts) => Reflect.get(facts, 'verdict'))).toEqual([
      'allowed',
      'parallelism_not_allowed',
      'allowed',
    ]);
  });

  it.each([
    [{ parallelism: '11' }, { parallelism: 'Enter a whole number from 1 to 10.' }],
    [
      { parallelism: 'x', replicas: '0' },
      { parallelism: /1 to 10/, replicas: /1 to 2147483647/ },
    ],
    [{ replicas: '1e3' }, { replicas: /whole number/ }],
    [{ parallelism: '1' }, { parallelism: 'These are the current values.' }],
    [{}, { parallelism: 'These are the current values.' }],
  ])('%j stays open with words beside the field', async (fields, errors) => {
    const run = await kept();
    const answer = await desk.submit('resize-batch', run.id, fields as Record<string, string>);
    if (answer.kind !== 'errors') throw new Error('it was taken');
    expect(Object.keys(answer.errors)).toEqual(Object.keys(errors));
    for (const [field, words] of Object.entries(errors)) expect(answer.errors[field]).toMatch(words);
    expect((await desk.now(run)).batch).toEqual(run.batch);
  });

  it('of a batch of another channel, or by somebody else, is refused', async () => {
    const run = await kept({ run: { origin: { ...aRun().origin, channelId: asChannelId('C0OTHER') } } });
    expect(JSON.stringify(await desk.submit('resize-batch', run.id, { parallelism: '2' }))).toContain('button_stale');
    const other = await kept({ run: { id: asRunId('otherother') } });
    const told = await desk.submit('resize-batch', other.id, { parallelism: '2' }, 'U0EVE');
    expect(JSON.stringify(told)).toContain('not_your_batch');
  });

  it('beyond what an approver said yes to needs a new batch', async () => {
    const approval = approvalTerms({ expiresMs: 60_000 });
    const rule = aRule({ batch: { maxPods: 50, maxParallelism: 5 }, approval });
    desk.world.policy = { ...POLICY, channels: { [asChannelId('C0SHOP')]: { rules: [rule] } } };
    const run = await kept({ run: { approval: anApproval() } });
    expect(textOf(await desk.type(`batch ${run.id} --parallelism=2`))).toContain('resize_needs_approval');
  });
});

describe('/kdebug batch ID', () => {
  it('shows the dashboard’s facts privately, without its buttons', async () => {
    const run = await kept({ size: 3, events: [...ended(0, 0), ...ended(1, 3)] });
    const told = textOf(await desk.type(`batch ${run.id}`, 'U0EVE'));
    expect(told).toMatch(/1 succeeded.*1 failed.*0 running.*1 waiting.*3 pods matched/);
    expect(told).toContain('the run failed, exit code 3');
    expect(told).not.toContain('"actions"');
    expect(textOf(await desk.type(`show ${run.id}`))).toContain('3 pods matched');
    expect(textOf(await desk.type('list'))).toContain(': Running, 1 of 3 runs succeeded');
  });

  it('does what the buttons do, and says that it did', async () => {
    const run = await kept();
    expect(textOf(await desk.type(`batch ${run.id} pause`))).toContain('is paused');
    expect(textOf(await desk.type(`batch ${run.id} pause`))).toContain('batch_unchangeable');
    expect(textOf(await desk.type(`batch ${run.id} resume`))).toContain('continues');
    expect(textOf(await desk.type(`batch ${run.id} --parallelism=3 --replicas=2`))).toContain('has its new size');
    expect((await desk.now(run)).batch).toMatchObject({ parallelism: 3, replicas: 2 });
    expect(textOf(await desk.type(`batch ${run.id} cancel`, 'U0EVE'))).toContain('not_your_batch');
    expect(textOf(await desk.type(`batch ${run.id} cancel`))).toContain('is cancelled');
  });

  it('takes a request back that waits for its approval', async () => {
    const run = await kept({ run: { state: 'pending-approval', approval: anApproval() } });
    expect(await desk.type(`batch ${run.id} cancel`)).toEqual({ kind: 'nothing' });
    expect((await desk.now(run)).state).toBe('cancelled');
  });

  it('knows no batch of another channel, no id that is none, and no run of one pod', async () => {
    const run = await kept({ run: { origin: { ...aRun().origin, channelId: asChannelId('C0OTHER') } } });
    expect(textOf(await desk.type(`batch ${run.id}`))).toContain('batch_not_found');
    expect(textOf(await desk.type('batch zzzzzzzzzz pause'))).toContain('batch_not_found');
    await desk.keep(aRun({ id: asRunId('singlesing'), state: 'running' }));
    expect(textOf(await desk.type('batch singlesing'))).toContain('batch_not_found');
    expect(textOf(await desk.type('export singlesing'))).toContain('batch_not_found');
  });
});

describe('show outliers', () => {
  const events = [...ended(0, 0), ...ended(1, 3), ...ended(2, 0)];

  it('answers whoever sees the dashboard or the result, privately, and starts nothing', async () => {
    const result = { channelId: asChannelId('C0SHOP'), ts: '7.7' };
    const run = await kept({ size: 3, events, run: { delivery: { result } } });
    const told = textOf(await desk.click('show-outliers', run, { userId: 'U0EVE' }));
    expect(told).toContain('1 pod ended differently. The other 2 pods: the run succeeded.');
    expect(told).toMatch(/web-1.*failed, exit code 3/);
    expect(textOf(await desk.click('show-outliers', run, { messageTs: '7.7' }))).toContain('web-1');
    expect(textOf(await desk.click('show-outliers', run, { messageTs: '8.8' }))).toContain('button_stale');
    expect(desk.started).toEqual([]);
  });
});

describe('run the failed pods again', () => {
  const events = [...ended(0, 0), ...ended(1, 3), ...ended(2, 0)];
  const request = { batch: { canary: false, replicas: 3, parallelism: 2 } };

  it('is a new request of who clicks, for those pods alone, once', async () => {
    const run = await kept({ size: 3, events, request });
    expect(await desk.click('rerun-failed', run, { userId: 'U0EVE' })).toEqual({ kind: 'nothing' });
    expect(desk.started).toMatchObject([
      {
        state: 'received',
        rerunOf: run.id,
        origin: { source: 'button', requesterId: 'U0EVE', channelId: 'C0SHOP' },
        request: { target: run.request.target, batch: { canary: false, parallelism: 2 } },
      },
    ]);
    expect(desk.started[0]?.request.batch).not.toHaveProperty('replicas');
    expect(textOf(await desk.click('rerun-failed', run, { userId: 'U0EVE' }))).toContain('already_asked');
    expect(desk.started).toHaveLength(1);
    await desk.click('rerun-failed', run);
    expect(desk.started).toHaveLength(2);
  });

  it('lends nobody the secret that another person typed', async () => {
    const secret = { ...request, env: [{ name: 'TOKEN', value: 'hunter2hunter2' }] };
    const run = await kept({ size: 3, events, request: secret });
    const theirs = textOf(await desk.click('rerun-failed', run, { userId: 'U0EVE' }));
    expect(theirs).toContain('run_has_secret');
    expect(theirs).not.toContain('hunter2');
    expect(desk.started).toEqual([]);
    expect(await desk.click('rerun-failed', run)).toEqual({ kind: 'nothing' });
    expect(desk.started[0]?.request.env).toEqual(secret.env);
  });

  it('lends nobody the secret of one of a job’s containers either', async () => {
    const base = aBatchRun({ size: 3, request });
    const secret = { ...base.request, env: [{ name: 'TOKEN', value: 'hunter2hunter2' }] };
    const run = await kept({
      size: 3,
      events,
      request,
      run: { job: { name: 'audit', requests: [base.request, secret] } },
    });
    expect(textOf(await desk.click('rerun-failed', run, { userId: 'U0EVE' }))).toContain('run_has_secret');
    expect(desk.started).toEqual([]);
  });

  it('asks for a reason of who clicks where the rule wants one, and takes no other', async () => {
    const base = aBatchRun({ size: 3, request: { ...request, reason: 'words of Roy' } });
    const job = { name: 'audit', requests: [base.request] };
    const run = await kept({ size: 3, events, request: base.request, run: { job } });
    const approval = approvalTerms({ reason: 'required', grants: 'denied' });
    const rule = aRule({ batch: { maxPods: 100, maxParallelism: 10 }, approval });
    desk.world.policy = aPolicy({
      channels: { [asChannelId('C0SHOP')]: { rules: [rule] } },
      approvers: { sre: { usergroup: 'S0SRE', users: [] } },
    });
    expect(await desk.click('rerun-failed', run, { userId: 'U0EVE' })).toMatchObject({
      kind: 'form',
      form: { name: 'again-reason', value: `rerun-failed:${run.id}` },
    });
    expect(desk.started).toHaveLength(0);
    const submit = (fields: Record<string, string>, id: string = run.id) =>
      desk.submit('again-reason', `rerun-failed:${id}`, fields, 'U0EVE');
    expect(await submit({})).toMatchObject({ kind: 'errors' });
    expect(JSON.stringify(await submit({ reason: 'mine' }, 'zzzzzzzzzz'))).toContain('button_stale');
    expect(await submit({ reason: 'words of Eve' })).toEqual({ kind: 'taken' });
    expect(desk.started[0]).toMatchObject({
      rerunOf: run.id,
      origin: { requesterId: 'U0EVE' },
      request: { reason: 'words of Eve' },
      job: { requests: [{ reason: 'words of Eve' }] },
    });
    expect(JSON.stringify(desk.started[0]?.request)).not.toContain('words of Roy');
  });

  it('keeps the containers of a job, and starts at once where that one was paused', async () => {
    const base = aBatchRun({ size: 3, request });
    const job = { name: 'audit', paused: true, requests: [base.request, { ...base.request, label: 'two' }] };
    const run = await kept({ size: 3, events, request, run: { job, commandLine: 'apply audit' } });
    await desk.click('rerun-failed', run);
    expect(desk.started[0]).toMatchObject({
      commandLine: 'apply audit',
      job: { name: 'audit', paused: false, requests: [{}, { label: 'two' }] },
    });
  });

  it('has nothing to do while it runs, or when all succeeded', async () => {
    const running = await kept({ size: 3, events: ended(0, 3) });
    expect(textOf(await desk.click('rerun-failed', running))).toContain('batch_unchangeable');
    const fine = await kept({ size: 1, events: ended(0, 0), run: { id: asRunId('otherother') } });
    expect(textOf(await desk.click('rerun-failed', fine))).toContain('batch_unchangeable');
    expect(desk.started).toEqual([]);
  });
});

describe('/kdebug export ID', () => {
  it('gives the batch as YAML, which applied asks for the same', async () => {
    const run = await kept({ request: { image: 'debian', command: ['ls', '/'], label: 'look' } });
    const answer = await desk.type(`export ${run.id}`);
    const yaml =
      answer.kind === 'message' ? answer.message.parts.find(({ kind }) => kind === 'preformatted') : undefined;
    if (yaml?.kind !== 'preformatted') throw new Error(textOf(answer));
    expect(yaml.text).toContain('kind: EphemeralJob');
    await desk.type(`apply\n\`\`\`\n${yaml.text}\`\`\``);
    expect(desk.started[0]).toMatchObject({
      request: { target: run.request.target, image: 'debian', command: ['ls', '/'], label: 'look', namespace: 'shop' },
      job: { name: `kdebug-${run.id}` },
    });
  });

  it('gives a typed secret to nobody but who typed it', async () => {
    const run = await kept({ request: { env: [{ name: 'TOKEN', value: 'hunter2hunter2' }] } });
    const theirs = textOf(await desk.type(`export ${run.id}`, 'U0EVE'));
    expect(theirs).toContain('run_has_secret');
    expect(theirs).not.toContain('hunter2');
    expect(textOf(await desk.type(`export ${run.id}`))).toContain('hunter2hunter2');
  });

  it('sends a long one as a file in a direct message', async () => {
    const run = await kept({ request: { command: ['sh', '-c', 'x'.repeat(3_000)] } });
    expect(textOf(await desk.type(`export ${run.id}`))).toContain('sent as a file by DM');
    await settle();
    expect(desk.world.thread.files).toMatchObject([{ filename: `kdebug-batch-${run.id}.yaml` }]);
    expect(desk.world.thread.files[0]?.content).toContain('x'.repeat(3_000));
  });

  it('says so when that file cannot be sent', async () => {
    const run = await kept({ request: { command: ['sh', '-c', 'x'.repeat(3_000)] } });
    desk.world.thread.faults.add('share', 'slack_unreachable');
    await desk.type(`export ${run.id}`);
    await settle();
    expect(JSON.stringify(desk.world.thread.told)).toContain('slack_unreachable');
  });

  it('has no words for what EphemeralJob cannot say', async () => {
    const run = await kept({ request: { target: { kind: 'selector', selector: 'size>3' } } });
    expect(textOf(await desk.type(`export ${run.id}`))).toContain('batch_not_exportable');
  });
});
