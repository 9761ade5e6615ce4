import { describe, expect, it } from 'vitest';
import type { Run, RunLog } from '../../../../src/core/run/run.ts';
import type { Message, Part, Span } from '../../../../src/core/say/message/message.ts';
import { anchorMessage, resultMessage } from '../../../../src/core/say/run/run-messages.ts';
import { aPlan, aRun, aTermination, START_MS } from '../../../support/builders.ts';

const words = (spans: readonly Span[]): string =>
  spans.map((span) => ('text' in span ? span.text : span.kind === 'person' ? `@${span.userId}` : '')).join('');

function lines(part: Part): readonly string[] {
  switch (part.kind) {
    case 'heading':
    case 'preformatted':
      return [part.text];
    case 'paragraph':
    case 'note':
      return [words(part.spans)];
    case 'list':
      return part.items.map(words);
    case 'table':
      return part.rows.map((row) => row.map(words).join(' | '));
    case 'facts':
      return part.facts.map(({ label, value }) => `${label}: ${words(value)}`);
    case 'chart':
      return [`chart: ${part.chart.title}`];
    case 'actions':
      return part.buttons.map(({ label }) => `[${label}]`);
    case 'links':
      return part.links.map(({ label, url }) => `[${label}: ${url}]`);
  }
}

const textOf = (message: Message): string => message.parts.flatMap(lines).join('\n');

const log = (parts: Partial<RunLog> = {}): RunLog => ({
  bytes: 6,
  lines: 1,
  sha256: 'feed',
  redactions: 0,
  completeness: { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] },
  head: 'hello',
  tail: '',
  omittedLines: 0,
  ...parts,
});

const finished = (parts: Partial<Run> = {}): Run =>
  aRun({
    state: 'finished',
    plan: aPlan({ securityContext: { runAsUser: 7, runAsGroup: 8 } }),
    outcome: { kind: 'succeeded' },
    termination: aTermination(),
    log: log(),
    ...parts,
  });

describe('the anchor', () => {
  it('says what happens to which pod, what comes next, and the rest in one small line', () => {
    const text = textOf(
      anchorMessage(aRun({ state: 'approved', plan: aPlan({ securityContext: { runAsUser: 7, runAsGroup: 8 } }) }), {
        approvers: {},
        nowMs: START_MS,
      }),
    );
    expect(text).toContain('Launching');
    expect(text).toBe(
      [
        'web-1: Launching',
        'The result comes in this thread, in at most 2 min.',
        '[Details]',
        'autodiagnose · shop · prod · @U0ROY · run abcdefghij',
      ].join('\n'),
    );
  });

  it('counts the time since the launch, then since the start', () => {
    const starting = aRun({ state: 'starting', plan: aPlan(), launchedAtMs: START_MS });
    expect(anchorMessage(starting, { approvers: {}, nowMs: START_MS + 4_000 }).summary).toContain('Starting · 4 s');
    const running = { ...starting, state: 'running', startedAtMs: START_MS + 3_000 } as const;
    expect(anchorMessage(running, { approvers: {}, nowMs: START_MS + 4_000 }).summary).toContain('Running · 1 s');
  });

  it('shows why it has not started, and the newest lines only while it runs', () => {
    const starting = aRun({
      state: 'starting',
      plan: aPlan(),
      waiting: { reason: 'ErrImagePull', message: 'not found' },
    });
    expect(textOf(anchorMessage(starting, { approvers: {}, nowMs: START_MS, tail: 'x' }))).toContain(
      'ErrImagePull: not found',
    );
    expect(
      textOf(anchorMessage({ ...starting, state: 'running' }, { approvers: {}, nowMs: START_MS, tail: 'line 9' })),
    ).toContain('line 9');
    expect(textOf(anchorMessage(finished(), { approvers: {}, nowMs: START_MS, tail: 'line 9' }))).not.toContain(
      'line 9',
    );
  });

  it('holds nothing of the output where that is for who asked alone, and says so', () => {
    const verdict = { line: 'disk /data is full', findings: [] };
    const moment = { approvers: {}, nowMs: START_MS, tail: 'line 9', isPrivate: true };
    for (const run of [finished({ verdict }), finished({ verdict, state: 'running' })]) {
      const text = textOf(anchorMessage(run, moment));
      expect(text).toContain('The result goes to @U0ROY by direct message');
      expect(text).not.toMatch(/line 9|disk/);
    }
  });

  it('ends with the outcome and how long it ran, by the container’s own times', () => {
    expect(anchorMessage(finished(), { approvers: {}, nowMs: START_MS + 99_000 })).toMatchObject({
      tone: 'ended',
      summary: 'Succeeded after 2 s: autodiagnose on shop/web-1',
    });
  });
});

describe('the anchor of a diagnosis that has ended', () => {
  const verdict = { line: '1 finding: memory at 95% of its limit.', findings: [{ text: 'memory 95%', next: '' }] };

  it('says what the result says, in tone and words, and how it ended below', () => {
    const moment = { approvers: {}, nowMs: START_MS };
    for (const run of [
      finished({ verdict }),
      finished({ verdict, outcome: { kind: 'failed', exitCode: 3, reason: 'Error' } }),
      finished({ verdict: { line: 'No problems found.', findings: [] } }),
      finished({ verdict: { findings: [{ text: 'web restarted', next: '', rank: 1 }] } }),
    ]) {
      expect(anchorMessage(run, moment).tone).toBe(resultMessage(run).tone);
    }
    const message = anchorMessage(finished({ verdict }), moment);
    expect(message.summary).toBe('shop/web-1: memory at 95% of its limit');
    expect(textOf(message)).toContain('@U0ROY · 2 s · run abcdefghij');
  });

  it('tells nothing of the verdict where output is private, not even by its mark', () => {
    const moment = { approvers: {}, nowMs: START_MS, isPrivate: true };
    const bad = anchorMessage(finished({ verdict }), moment);
    expect(bad.tone).toBe('ended');
    expect(anchorMessage(finished({ verdict: { line: 'No problems found', findings: [] } }), moment)).toEqual(bad);
  });
});

describe('the notification of a card that waits', () => {
  it('says what is needed, of which pod and why', () => {
    const run = aRun({ state: 'pending-approval', plan: aPlan({ reason: 'it hangs\non start' }) });
    expect(anchorMessage(run, { approvers: {}, nowMs: START_MS }).summary).toBe(
      'Approval needed: autodiagnose on shop/web-1: it hangs⏎on start',
    );
  });
});

describe('a person in a reason', () => {
  it('is mentioned by name on the card', () => {
    const run = aRun({ state: 'pending-approval', plan: aPlan({ reason: 'ask U0BOB first' }) });
    expect(textOf(anchorMessage(run, { approvers: {}, nowMs: START_MS }))).toContain('Why: ask @U0BOB first');
  });
});

describe('the result', () => {
  it('mentions the requester first when it went wrong, and in private not at all: a direct message notifies by itself', () => {
    const run = finished({ outcome: { kind: 'timed-out' } });
    expect(textOf(resultMessage(run)).startsWith('@U0ROY, web-1: timed out')).toBe(true);
    expect(textOf(resultMessage(run, { isPrivate: true })).startsWith('web-1: Timed out')).toBe(true);
    expect(textOf(resultMessage(finished()))).not.toContain('@');
  });

  it('has the exit code, the duration, the size, the excerpt and the run id', () => {
    const text = textOf(resultMessage(finished()));
    expect(text).toContain(
      'Exit code 0 (Completed) · 2 s · log of 1 line, 6 B · restricted (picked automatically), runs as user 7:8 · Run abcdefghij',
    );
    expect(text).toContain('hello');
  });

  it('says what happened and what to do when it did not succeed', () => {
    const text = textOf(resultMessage(finished({ outcome: { kind: 'timed-out' } })));
    expect(text).toContain('until it exits or somebody stops it');
    expect(text).toContain('--timeout');
  });

  it('shows both ends of a long log and counts what is only in the file', () => {
    const text = textOf(resultMessage(finished({ log: log({ head: 'first', tail: 'last', omittedLines: 2_000 }) })));
    expect(text).toContain('first\n… 2,000 more lines, all in the attached file …\nlast');
  });

  it.each([
    [{ limitReached: true }, 'it is cut here'],
    [{ beginningMayBeMissing: true }, 'beginning of the log may be missing'],
    [
      { gaps: [{ fromStamp: 'A', toStamp: 'B', atByte: 1 }] },
      '1 possible gap in the log (a lost file, or silence): first between A and B',
    ],
    [{ interruptedBy: 'pod_not_found' }, 'could not be read to its end (pod_not_found)'],
  ])('says plainly what could not be proven: %j', (parts, sentence) => {
    const completeness = { ...log().completeness, complete: false, ...parts };
    expect(textOf(resultMessage(finished({ log: log({ completeness }) })))).toContain(sentence);
  });

  it('says of a run whose record was lost what is not certain any more, also without a log', () => {
    const { log: _none, ...without } = finished({ rebuilt: true });
    for (const run of [finished({ rebuilt: true }), without])
      expect(textOf(resultMessage(run))).toContain('restarted during this run');
    expect(textOf(resultMessage(finished()))).not.toContain('restarted during this run');
  });

  it('counts what was redacted', () => {
    expect(textOf(resultMessage(finished({ log: log({ redactions: 2 }) })))).toContain('2 secrets redacted');
  });

  it('leads with the verdict of the image and its findings', () => {
    const verdict = {
      line: 'memory at 95% of its limit',
      findings: [{ text: 'memory 95%', next: 'Raise the limit.' }],
    };
    const message = resultMessage(finished({ verdict }));
    expect(message.parts[0]).toEqual({
      kind: 'paragraph',
      spans: [
        { kind: 'person', userId: 'U0ROY' },
        { kind: 'text', text: ', ' },
        { kind: 'strong', text: 'web-1' },
        { kind: 'text', text: ': memory at 95% of its limit' },
      ],
    });
    expect(message.tone).toBe('attention');
    expect(textOf(message)).toContain('memory 95%. Raise the limit.');
  });

  it('says in order what is wrong, what is fine, what could not be seen, and offers to look again', () => {
    const verdict = {
      line: '2 findings: memory 95%; 300 sockets',
      findings: [{ text: 'memory 95%', limit: '90%', next: 'Raise the limit.', rank: 2 as const }],
      more: 1,
      fine: 'dns, cpu',
      unseen: ['files: ptrace access: look again as 7:0'],
      lookAgain: { kind: 'identity', runAs: { uid: 7, gid: 0 } } as const,
      by: 'autodiagnose 0.2.0',
    };
    const text = textOf(resultMessage(finished({ verdict, log: log({ omittedLines: 40, lines: 80 }) })));
    const order = [
      'memory 95%, and 1 more finding',
      'Raise the limit. Threshold: 90%.',
      '[Look again as 7:0]',
      '1 more in the report',
      'Checked, no problems: dns, cpu',
      'files: ptrace access: look again as 7:0',
      'Full report attached (80 lines)',
      'Run abcdefghij · autodiagnose 0.2.0',
    ].map((words) => text.indexOf(words));
    expect(order).not.toContain(-1);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(text).not.toContain('hello');
    expect(text.match(/memory 95%/g)).toHaveLength(1);
    expect(textOf(anchorMessage(finished({ verdict }), { approvers: {}, nowMs: START_MS }))).toContain(
      'web-1: memory 95%, and 1 more finding',
    );
    const alone = textOf(resultMessage(finished({ verdict }), { isPrivate: true }));
    expect(alone).toContain('files: ptrace access: look again as 7:0');
    expect(alone).not.toContain('[Look again');
  });

  it('is neither alarm nor praise when something is merely worth knowing', () => {
    const findings = [{ text: 'no memory limit', next: '', rank: 3 as const }];
    expect(resultMessage(finished({ verdict: { line: 'Nothing is failing', findings } })).tone).toBe('ended');
  });

  it('is how the run ended, where a look without a report followed an answer that found nothing wrong', () => {
    const verdict = {
      line: 'Nothing found so far: ready',
      findings: [],
      readAtMs: START_MS,
      unseen: ['the log of web'],
    };
    const failed = finished({ verdict, outcome: { kind: 'failed', exitCode: 3, reason: 'Error' } });
    for (const message of [anchorMessage(failed, { approvers: {}, nowMs: START_MS }), resultMessage(failed)])
      expect(message).toMatchObject({
        tone: 'failure',
        summary: expect.stringMatching(/the run failed with exit code 3/i),
      });
    expect(textOf(resultMessage(finished({ verdict })))).toContain('hello');
    const found = {
      ...verdict,
      findings: [{ code: 'x', text: 'web is sick', next: '', rank: 1 as const }],
      line: 'web is sick',
    };
    const { tone, summary } = resultMessage(finished({ verdict: found, outcome: { kind: 'timed-out' } }));
    expect([tone, summary]).toEqual(['failure', 'web-1: web is sick']);
  });

  it('shows the report itself when there is no file of it', () => {
    const verdict = { line: 'x', findings: [] };
    expect(textOf(resultMessage(finished({ verdict })))).toContain('hello');
    const lost = finished({
      verdict,
      log: log({ omittedLines: 9 }),
      delivery: { filesLost: { 'kdebug-abcdefghij.log': 'slack_refused' } },
    });
    expect(textOf(resultMessage(lost))).toContain('hello');
  });

  it('says in words why its log is no file, never with a code', () => {
    const lostBy = (code: string) =>
      textOf(resultMessage(finished({ delivery: { filesLost: { 'kdebug-abcdefghij.log': code } } })));
    expect(lostBy('slack_refused')).toContain('could not be shared as a file (Slack refused it).');
    expect(lostBy('spool_full')).toContain('could not be shared as a file (kdebug had no room for it).');
    expect(lostBy('code_of_tomorrow')).toContain(
      'could not be shared as a file (kdebug could not share it, and its own log says why).',
    );
  });

  it('lets the outcome lead where the findings only explain it', () => {
    const verdict = { findings: [{ text: 'web restarted 4 times', next: 'Read it.', rank: 1 as const }] };
    const text = textOf(resultMessage(finished({ outcome: { kind: 'target-ended', exitCode: 137 }, verdict })));
    expect(text.startsWith('@U0ROY, web-1: the target exited')).toBe(true);
    expect(text).toContain('web restarted 4 times. Read it.');
    expect(text).toContain('hello');
  });

  it('shows the termination message unless the log says the same', () => {
    const termination = aTermination({ message: 'bye' });
    expect(textOf(resultMessage(finished({ termination })))).toContain('Termination message:\nbye');
    expect(textOf(resultMessage(finished({ termination, log: log({ head: 'so: bye' }) })))).not.toContain(
      'Termination message',
    );
  });

  it('says what the profile could not see', () => {
    const plan = aPlan({ blindSpots: ["the target's files"] });
    expect(textOf(resultMessage(finished({ plan })))).toContain("Not visible to it: the target's files.");
  });

  it('says so when nothing was written', () => {
    expect(textOf(resultMessage(finished({ log: log({ bytes: 0, lines: 0, head: '' }) })))).toContain(
      'The log is empty.',
    );
  });

  it('does not say that nothing was written when nothing could be read', () => {
    const completeness = { ...log().completeness, complete: false, interruptedBy: 'aborted' };
    const told = textOf(resultMessage(finished({ log: log({ bytes: 0, lines: 0, head: '', completeness }) })));
    expect(told).not.toContain('The log is empty.');
    expect(told).toContain('None of its log could be read.');
  });
});

it('who has no output is not sent to its last lines', () => {
  const failed = { outcome: { kind: 'failed', exitCode: 3, reason: 'Error' } } as const;
  const silent = textOf(resultMessage(finished({ ...failed, log: log({ bytes: 0, lines: 0, head: '' }) })));
  expect(silent).toContain('The log is empty.');
  expect(silent).not.toMatch(/last lines|0 lines/);
  expect(textOf(resultMessage(finished(failed)))).toContain('Check the last lines of its log.');
});
