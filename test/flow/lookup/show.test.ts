import { describe, expect, it } from 'vitest';
import { asUserId } from '../../../src/core/ids.ts';
import { anOrigin, aPolicy, approvalTerms, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { BATCH_RULE, BatchWorld, policyOf } from '../batch/batch-world.ts';
import { World } from '../support/world.ts';

const APPROVAL = approvalTerms();
const THREAD = 'https://local.slack.com/archives/C0SHOP/p10';
const RESULT = 'https://local.slack.com/archives/C0SHOP/p20';
const SECRET = 'web-1 --image=debian --env=CARD=ACME-12345678 -- echo ACME-87654321';
const LONG = Array.from({ length: 500 }, (_, index) => `line ${index + 1}\n`).join('');

async function ended(world: World, log: string): Promise<void> {
  world.cluster.log = log;
  world.cluster.report({ terminated: aTermination() });
  await settle();
}

/** What is asked by a person, as one text. */
const asked = async (world: Pick<World, 'say'>, words: string, person = 'U0ROY'): Promise<string> =>
  JSON.stringify(await world.say(words, anOrigin({ dedupeKey: words + person, requesterId: asUserId(person) })));

describe('show', () => {
  it('gives the result, the plan, the decision and the way to the thread and the result', async () => {
    const world = new World();
    await world.say('web-1 --image=debian --target=web -- cat /etc/hosts');
    await ended(world, 'hello from the pod\n');
    const shown = await asked(world, `show ${world.runId}`);
    for (const word of ['Succeeded', 'hello from the pod', 'debian:12-slim', 'general: ', 'intrusive: ', '"look"'])
      expect(shown).toContain(word);
    expect(shown).toContain(`"url":"${THREAD}","text":"Thread"`);
    expect(shown).toContain(`"url":"${RESULT}","text":"Result"`);
    expect(shown).not.toContain('Read the log below');
  });

  it.each(['show aaaaaaaaaa', `can-i ${SECRET}`, SECRET.replace(' -- ', ' --dry-run -- ')])(
    'and its like apply the patterns of the policy to command and variables: %s',
    async (words) => {
      const output = { ...aPolicy().output, redact: ['ACME-\\d{8}'] };
      const world = new World({ policy: aPolicy({ output }) });
      await world.say(SECRET);
      await ended(world, '');
      const answers = [await asked(world, words, 'U0EVE'), JSON.stringify(world.thread.told)].join();
      expect(answers).toContain('CARD=');
      expect(answers).toContain('[redacted:');
      expect(answers).not.toContain('ACME-');
    },
  );

  it('names the file beside the result where there is one', async () => {
    const world = new World();
    await world.say('web-1 --image=debian');
    await ended(world, LONG);
    expect(await asked(world, `show ${world.runId}`)).toContain(`"url":"${RESULT}","text":"Result and file"`);
  });

  it('says who approved, when and why', async () => {
    const policy = {
      ...policyOf({ ...BATCH_RULE, approval: APPROVAL }),
      approvers: { sre: { users: [asUserId('U0BOB')] } },
    };
    const world = new World({ policy });
    await world.say('web-1');
    expect(await asked(world, `show ${world.runId}`)).toContain('Waiting for approval');
    await world.click('U0BOB', 'approve');
    const shown = await asked(world, `show ${world.runId}`);
    expect(shown).toContain('Needs approval');
    expect(shown).toContain('"kind":"person","userId":"U0BOB"');
  });

  it('says when it started, in which container, and how to read its log', async () => {
    const world = new World();
    await world.say('web-1 --image=debian');
    await ended(world, 'password=hunter2-hunter2\nline two\n');
    const shown = textOf(await world.say(`show ${world.runId}`, anOrigin({ dedupeKey: 'show' })));
    expect(shown).toContain('Started: 2026-11-21T07:30:01.000Z');
    expect(shown).toMatch(/Container: kdebug-\w+/);
    expect(shown).toContain('Log: 2 lines, ');
    expect(shown).toContain('Its log: /kdebug logs aaaaaaaaaa');
  });

  it('says until when a request waits for votes, and what became of its grant', async () => {
    const policy = {
      ...policyOf({ ...BATCH_RULE, approval: APPROVAL }),
      approvers: { sre: { users: [asUserId('U0BOB')] } },
    };
    const world = new World({ policy });
    await world.say('web-1');
    expect(textOf(await world.say(`show ${world.runId}`, anOrigin({ dedupeKey: 'one' })))).toContain('Expires: 2026-');
    await world.click('U0BOB', 'approve-grant');
    const shown = textOf(await world.say(`show ${world.runId}`, anOrigin({ dedupeKey: 'two' })));
    expect(shown).toContain('Grant: by U0BOB, 0 of 20 used, until 2026-');
    expect(shown).not.toContain('Expires:');
  });

  it('has nothing that can be pressed', async () => {
    const world = new World();
    await world.say('web-1');
    await ended(world, 'x\n');
    expect(await asked(world, `show ${world.runId}`)).not.toContain('"actions"');
  });

  it('a batch has its links too', async () => {
    const world = new BatchWorld(2, { policy: policyOf(BATCH_RULE) });
    await world.say('-l app=web --parallelism=2');
    await world.clock.advance(60_000);
    expect(await asked(world, 'show aaaaaaaaaa')).toContain(`"url":"${THREAD}","text":"Thread"`);
    expect(await asked(world, 'batch aaaaaaaaaa')).toContain('"text":"Result and files"');
  });

  it('links that Slack does not give in time are left out', async () => {
    const world = new World();
    await world.say('web-1');
    await ended(world, 'x\n');
    world.thread.faults.add('permalink', 'slack_unanswered');
    world.thread.faults.add('permalink', 'slack_refused');
    expect(await asked(world, `show ${world.runId}`)).not.toContain('"link"');
  });
});

describe('logs', () => {
  it('gives the first and last lines, and the way to the file', async () => {
    const world = new World();
    await world.say('web-1 --image=debian');
    await ended(world, LONG);
    const shown = await asked(world, `logs ${world.runId}`);
    for (const word of ['line 1\\n', 'line 500', 'left out', 'first and last lines', `"url":"${RESULT}"`])
      expect(shown).toContain(word);
  });

  it('gives all of a short log', async () => {
    const world = new World();
    await world.say('web-1 --image=debian');
    await ended(world, 'only this\n');
    const shown = await asked(world, `logs ${world.runId}`);
    expect(shown).toContain('All of it: 1 line');
    expect(shown).toContain('only this');
  });

  it('says when there is none yet', async () => {
    const world = new World();
    await world.say('web-1 --image=debian');
    expect(await asked(world, `logs ${world.runId}`)).toContain('There is no log yet');
  });
});

describe('what is for the requester alone', () => {
  const output = { redact: [], retentionMs: 604_800_000, deliverTo: 'requester' } as const;

  it.each(['show', 'logs'])('%s shows it to them only, and links no direct message to others', async (verb) => {
    const world = new World({ policy: aPolicy({ output }) });
    await world.say('web-1 --image=debian');
    await ended(world, 'a private line\n');
    const [own, other] = [
      await asked(world, `${verb} ${world.runId}`),
      await asked(world, `${verb} ${world.runId}`, 'U0EVE'),
    ];
    expect(own).toContain('a private line');
    expect(own).toContain('/archives/D-U0ROY/');
    expect(other).toContain('for the requester alone');
    expect(other).not.toContain('a private line');
    expect(other).not.toContain('D-U0ROY');
  });

  it('so is all of it where the channel is shared with another company by now', async () => {
    const world = new World();
    await world.say('web-1 --image=debian');
    await ended(world, 'a private line\n');
    world.directory.shared.add('C0SHOP');
    expect(await asked(world, `show ${world.runId}`, 'U0EVE')).not.toContain('a private line');
  });

  it('where nobody can say whether it is shared', async () => {
    const world = new World();
    await world.say('web-1 --image=debian');
    await ended(world, 'a private line\n');
    world.directory.faults.add('channel', 'slack_unreachable');
    expect(await asked(world, `logs ${world.runId}`, 'U0EVE')).not.toContain('a private line');
  });

  it('another channel sees nothing of the run', async () => {
    const world = new World();
    await world.say('web-1 --image=debian');
    await ended(world, 'x\n');
    const elsewhere = anOrigin({ dedupeKey: 'two', channelId: 'C0OTHER' as never });
    expect(textOf(await world.say(`show ${world.runId}`, elsewhere))).toContain('run_not_found');
  });
});
