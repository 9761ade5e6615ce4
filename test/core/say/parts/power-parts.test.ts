import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeText } from '../../../../src/adapters/slack/views/plain.ts';
import { simplerViews, view } from '../../../../src/adapters/slack/views/view.ts';
import { batchPlanHash } from '../../../../src/core/batch/new-batch.ts';
import { planHash } from '../../../../src/core/container/plan.ts';
import type { Run } from '../../../../src/core/run/run.ts';
import type { Message } from '../../../../src/core/say/message/message.ts';
import { unseenOnCard } from '../../../../src/core/say/parts/power-parts.ts';
import { anchorMessage } from '../../../../src/core/say/run/run-messages.ts';
import { anyCharacter } from '../../../support/any-text.ts';
import { anApproval, aPlan, aRun, aSecondRun, START_MS } from '../../../support/builders.ts';
import { textOf } from '../../../support/plain-message.ts';
import { inFullOr } from '../../../support/sample.ts';
import { aBatchRun, type BatchRunParts } from '../batch/a-batch-run.ts';

const PENDING = { state: 'pending-approval', approval: anApproval() } as const;
const cardOf = (run: Run): Message => anchorMessage(run, { approvers: {}, nowMs: START_MS });

/** The words of the card as Slack gets them, without their marks. */
const shown = (run: Run): string =>
  JSON.stringify(view(cardOf(run)).blocks, (key, value) => (key === 'type' ? undefined : value)).replace(
    /\{"text":|"style":\{[^}]*\}|[{}[\]]/g,
    '',
  );
/** The commands and variables of a card: in its first line, or in blocks of their own. */
const wholeOf = ({ parts }: Message): readonly string[] =>
  parts.flatMap((part) => {
    if (!('whole' in part)) return [];
    if (part.kind === 'preformatted') return [part.text];
    return part.kind === 'paragraph' ? part.spans.flatMap((span) => (span.kind === 'code' ? [span.text] : [])) : [];
  });
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
      text: "LD_PRELOAD=/x.so\nSCRIPT='one⏎EXTRA=two\\u{D}⏎three'",
      whole: true,
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
    expect(text).toContain("SECRET_CMD='rm -rf /'");
    expect(text).toMatch(/ with the arguments .*--wipe/);
    expect(text).toMatch(/Target container.*web.*Target container.*db/);
  });

  it('has the profile and the user of each container of a batch, for every kind of pod', () => {
    const as = (runAsUser: number) => ({ securityContext: { runAsUser, runAsGroup: runAsUser } });
    const look = { label: 'look', profile: 'sysadmin' } as const;
    const run = batchOf([look, { label: 'words', command: ['id'], ...as(1000) }]);
    const other = [aPlan(look), aPlan({ label: 'words', command: ['id'], ...as(65533) })];
    const variants = [...(run.batch?.variants ?? []), other];
    const text = shown({ ...run, ...(run.batch && { batch: { ...run.batch, variants } }) });
    expect(text).toMatch(
      /look.*Access.*sysadmin.*words.*Access.*restricted \(no extra rights\) as user 1000:1000, restricted \(no extra rights\) as user 65533:65533/,
    );
  });

  it.each([
    [{ request: { target: { kind: 'selector', selector: 'app=web' } } }, /Selects.*app=web/],
    [{ request: { target: { kind: 'all' } } }, /Selects.*every pod of the namespace/],
    [{ request: { target: { kind: 'workload', workload: 'deployment', name: 'web' } } }, /Selects.*deployment\/web/],
    [{ run: { rerunOf: aRun().id } }, /Selects.*the pods of batch abcdefghij that did not succeed/],
  ] satisfies [BatchRunParts, RegExp][])('says which pods a batch selects (%j)', (parts, words) => {
    expect(shown(batchOf([{}], parts))).toMatch(words);
  });

  it.each([
    [['cat', '/etc/hosts'], 'cat /etc/hosts'],
    [['cat /etc/hosts'], "'cat /etc/hosts'"],
    [['sh', '-c', 'echo a\nrm -rf /data'], "sh -c 'echo a⏎\nrm -rf /data'"],
    [['echo', '', ' '], "echo '' ' '"],
    [['echo', 'user\u202Etxt.exe'], "echo 'user\\u{202E}txt.exe'"],
    [['echo', 'a\u200Bb\u00A0c\td\u001B[2K⏎'], "echo 'a\\u{200B}b\\u{A0}c\\u{9}d\\u{1B}[2K\\u{23CE}'"],
    [['echo', 'א/1', '2/ב'], "echo '\\u{5D0}/1' '2/\\u{5D1}'"],
  ])('shows the borders of words, and every character: %j', (command, words) => {
    expect(wholeOf(cardOf(single({ command })))).toContain(words);
    expect(JSON.stringify(view(cardOf(single({ command }))).blocks)).toContain(JSON.stringify(words));
  });

  it('shows to its end every command that fits, with all that a card may hold besides', () => {
    const words = fc.array(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 600 }), {
      minLength: 1,
      maxLength: 6,
    });
    const env = fc.array(
      fc.record({ name: fc.stringMatching(/^[A-Z_]{1,40}$/), value: fc.string({ unit: 'grapheme', maxLength: 400 }) }),
      { maxLength: 6 },
    );
    const votes = Array.from({ length: 8 }, (_, n) => ({
      userId: `U0VOTER${n}`,
      kind: 'approve' as const,
      reason: '€'.repeat(500),
      atMs: START_MS,
    }));
    let fitting = 0;
    fc.assert(
      fc.property(words, env, fc.integer({ min: 0, max: 2_600 }), (command, variables, length) => {
        const plan = { command: [...command, 'x'.repeat(length)], env: variables, reason: '&'.repeat(9_000) };
        if (unseenOnCard({ plan: aPlan(plan) })) return;
        fitting += 1;
        const run = { ...single(plan), approval: anApproval({ votes }), commandLine: '<'.repeat(16_000) };
        const card = cardOf(run);
        const blocks = view(card).blocks;
        const whole = wholeOf(card);
        const json = JSON.stringify(blocks);
        for (const text of whole) expect(json).toContain(JSON.stringify(text).slice(1, -1));
        expect(json).toContain('"action_id":"approve"');
        for (const simpler of simplerViews(card)) {
          const all = JSON.stringify(simpler.blocks);
          const isWhole = whole.every((text) => all.includes(JSON.stringify(text).slice(1, -1)));
          expect(all.includes('"action_id":"approve"') && !isWhole).toBe(false);
        }
      }),
      { numRuns: inFullOr(60, 20) },
    );
    expect(fitting).toBeGreaterThan(inFullOr(5, 1));
  });

  it('says to a screen reader every character that people decide on, and where a command is longer, until when they may', () => {
    const words = fc.array(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }), {
      minLength: 1,
      maxLength: 4,
    });
    const lengths = fc.constantFrom(0, 10, 2_600);
    fc.assert(
      fc.property(words, words, lengths, (command, values, length) => {
        const env = values.map((value, index) => ({ name: `V${index}`, value }));
        const plan = { command: [...command, 'x'.repeat(length)], env, reason: '&'.repeat(9_000) };
        if (unseenOnCard({ plan: aPlan(plan) })) return;
        const { text } = view(cardOf(single(plan)));
        const isLong = text.length > 2_900;
        expect(text.length).toBeLessThanOrEqual(3_001);
        expect(text).toMatch(/\nAccess: restricted \(no extra rights\)/);
        expect(text).toMatch(/ \(container web\)|\nPod: .*Container: web/);
        expect(text).toMatch(/1 approval needed, expires (?:at )?\d/);
        for (const part of wholeOf(cardOf(single(plan))))
          if (!isLong) expect(text.replace(/\s+/g, ' ')).toContain(escapeText(part).replace(/\s+/g, ' '));
      }),
      { numRuns: inFullOr(200, 40) },
    );
  });

  it('has no button where it cannot be shown whole, however that came about', () => {
    for (const length of [3_200, 9_000, 60_000]) {
      const json = JSON.stringify(view(cardOf(single({ command: ['echo', 'x'.repeat(length)] }))).blocks);
      expect(json).not.toContain('"action_id"');
    }
  });

  it('fits with what people ask for every day, and not with more than a card can show', () => {
    const script = 'for p in /proc/[0-9]*; do echo "$p"; done\n'.repeat(30);
    expect(unseenOnCard({ plan: aPlan({ command: ['sh', '-c', script] }) })).toBeUndefined();
    expect(unseenOnCard({ plan: aPlan({ command: ['sh', '-c', 'x'.repeat(2_500)] }) })).toBeUndefined();
    expect(unseenOnCard({ plan: aPlan({ command: ['sh', '-c', 'x'.repeat(2_900)] }) })).toBe(
      'command_too_long_to_approve',
    );
    expect(unseenOnCard({ plan: aPlan({ env: [{ name: 'A', value: 'x'.repeat(2_900) }] }) })).toBe(
      'command_too_long_to_approve',
    );
    const container = { command: ['echo', 'x'.repeat(2_000)], label: 'a' };
    expect(unseenOnCard(batchOf([container]))).toBeUndefined();
    expect(unseenOnCard(batchOf([container, container, container]))).toBe('command_too_long_to_approve');
  });

  it('has no place for what looks like a secret, and never shows one', () => {
    const plan = { command: ['sh', '-c', 'PASSWORD=correct-horse-battery ./run'] };
    expect(unseenOnCard({ plan: aPlan(plan) })).toBe('secret_in_command_to_approve');
    expect(unseenOnCard(batchOf([plan]))).toBe('secret_in_command_to_approve');
    const env = [{ name: 'API_TOKEN', value: 'c29tZS1sb25nLXRva2Vu' }];
    expect(unseenOnCard({ plan: aPlan({ env }) })).toBe('secret_in_command_to_approve');
    expect(JSON.stringify(cardOf(single({ ...plan, env })))).not.toMatch(/correct-horse|c29tZS1/);
    expect(unseenOnCard({ plan: aPlan({ command: ['echo', '[redacted:secret]'] }) })).toBeUndefined();
  });

  it('has no place for a script of a pod that an older kdebug showed in part', () => {
    const shownInPart = (word: string) =>
      unseenOnCard({ plan: aPlan({ command: [], onceMore: aSecondRun({ args: [word] }) }) });
    expect(shownInPart('export A_TOKEN=[redacted:secret] -rf /')).toBe('secret_in_command_to_approve');
    expect(shownInPart('[redacted:long]')).toBe('secret_in_command_to_approve');
    expect(shownInPart('--password=[redacted:secret]')).toBeUndefined();
  });

  it('is of a plan whose hash covers the variables', () => {
    const env = [{ name: 'A', value: 'b' }];
    expect(planHash(aPlan({ env }))).not.toBe(planHash(aPlan()));
    const [one, other] = [batchOf([{ env }]).batch!, batchOf([{}]).batch!];
    expect(batchPlanHash(one)).not.toBe(batchPlanHash(other));
  });
});

describe('the first lines of a request', () => {
  const lines = (parts: Parameters<typeof aPlan>[0]): readonly string[] =>
    textOf(cardOf(single(parts)))
      .split('\n')
      .slice(1);
  const command = ['gdb', '-p', '1', '-batch', '-ex', 'bt'];

  it('say who wants to run what and where, why, and with which power', () => {
    const plan = {
      command,
      imageAlias: 'debugger',
      profile: 'sysadmin',
      profileAsked: 'sysadmin',
      reason: 'it hangs',
    } as const;
    expect(lines(plan).slice(0, 3)).toEqual([
      'U0ROY wants to run gdb -p 1 -batch -ex bt in shop/web-1 (container web)',
      'Why: it hangs',
      'Access: sysadmin (privileged: everything on the node) · image debugger, not pinned to a digest',
    ]);
  });

  it.each([
    ['the image’s own command', {}, 'autodiagnose in'],
    ['arguments', { command: ['--wipe'], argumentsOnly: true }, 'autodiagnose with the arguments --wipe in'],
    ['a long command', { command: ['x'.repeat(61)] }, 'the command below in'],
    ['a script', { command: ['sh', '-c', 'a\nb'] }, 'the command below in'],
    ['long arguments', { command: ['x'.repeat(61)], argumentsOnly: true }, 'autodiagnose with the arguments below in'],
    ['a gap', { command: ['echo', 'a  b'] }, 'the command below in'],
  ])('name %s', (_what, parts, words) => {
    expect(lines(parts)[0]).toContain(`wants to run ${words}`);
  });

  it('name a pod and its container whole elsewhere if they are too long for one line', () => {
    const podName = `${'p'.repeat(200)}-end`;
    const text = lines({ podName, command }).join('\n');
    expect(text.split('\n')[0]!.length).toBeLessThan(120);
    expect(text).toContain(`Pod: shop/${podName}\nContainer: web`);
  });

  it('say which user it is, and nothing of a user that the image chooses', () => {
    expect(lines({ securityContext: { runAsUser: 0, runAsGroup: 0 } })[1]).toContain(', as root');
    expect(lines({ securityContext: { runAsUser: 0, runAsGroup: 7 } })[1]).toContain(', as user 0:7');
    expect(lines({})[1]).not.toContain(', as');
  });

  it('end with the whole reason below the buttons if it is long', () => {
    const text = lines({ reason: 'because '.repeat(40).trim() });
    expect(text[1]).toMatch(/^Why: because .*…$/);
    expect(text.indexOf('[Reject]')).toBeLessThan(text.findIndex((line) => line.startsWith('Whole reason: ')));
  });
});
