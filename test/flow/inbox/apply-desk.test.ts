import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { anOrigin, START_MS } from '../../support/builders.ts';
import { DeskWorld, textOf } from './desk-world.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/ephemeraljob/${name}.yaml`, import.meta.url), 'utf8');
const JOB = fixture('hello-world');

let desk: DeskWorld;
beforeEach(() => {
  desk = new DeskWorld();
});

const shortcut = (code: string | undefined, over: object = {}) =>
  desk.inbox.shortcut({
    name: 'apply-job',
    teamId: 'T0TEAM',
    userId: 'U0ROY',
    channelId: 'C0SHOP',
    text: 'please run',
    messageTs: '5.0',
    dedupeKey: 'shortcut-1',
    receivedAtMs: START_MS,
    ...(code !== undefined && { code }),
    ...over,
  });

const TAKEN = {
  state: 'received',
  commandLine: 'apply hello-world-ephemeral-job -n shop',
  request: {
    target: { kind: 'selector', selector: 'app=helloworld' },
    namespace: 'shop',
    image: 'busybox:latest',
    batch: { replicas: 4, parallelism: 1, ttlMs: 1_800_000, canary: false },
  },
  job: { name: 'hello-world-ephemeral-job', paused: false, requests: [{ namespace: 'shop', label: 'helloworld-ec' }] },
};

describe('/kdebug apply', () => {
  it.each([
    ['fenced', `apply -n shop\n\`\`\`yaml\n${JOB}\`\`\``],
    ['on the next lines', `apply -n shop\n${JOB}`],
  ])('takes a job %s, and says what of it means something else here', async (_how, words) => {
    expect(textOf(await desk.type(words))).toMatch(/Applied hello-world-ephemeral-job.*tty and stdin are left out/);
    expect(desk.started).toMatchObject([TAKEN]);
  });

  it('alone opens a form, with what the command says', async () => {
    const answer = await desk.type('apply -n shop --cluster=prod');
    expect(answer).toMatchObject({ kind: 'form', form: { name: 'apply', value: 'prod' } });
    expect(answer.kind === 'form' ? answer.form.fields : []).toMatchObject([
      { id: 'yaml', kind: 'lines' },
      { id: 'namespace', initial: 'shop' },
    ]);
  });

  it('names everything wrong with its line and column, and a caret under the first', async () => {
    const told = textOf(await desk.type(`apply\n${JOB.replace('parallelism: 1', 'paralelism: 11')}`));
    expect(told).toContain('manifest_invalid');
    expect(told).toContain('11:3 ');
    expect(told).toContain('did you mean parallelism?');
    expect(told).toMatch(/ {2}paralelism: 11\\n {2}\^/);
    expect(desk.started).toEqual([]);
  });

  it('refuses a job that names another namespace than the command', async () => {
    const elsewhere = JOB.replace('metadata:', 'metadata:\n  namespace: other');
    expect(textOf(await desk.type(`apply -n shop\n${elsewhere}`))).toMatch(
      /namespace other, the command shop.*flag_contradiction/,
    );
    await desk.type(`apply -n other\n${elsewhere}`);
    expect(desk.started).toMatchObject([{ commandLine: 'apply hello-world-ephemeral-job -n other' }]);
  });

  it('a paused job starts paused, several containers are several requests', async () => {
    const two = `${JOB.replace('replicas: 4', 'paused: true')}    - {name: second, image: debian}\n`;
    await desk.type(`apply -n shop\n${two}`);
    expect(desk.started[0]?.job).toMatchObject({
      paused: true,
      requests: [{ image: 'busybox:latest' }, { image: 'debian', namespace: 'shop', label: 'second' }],
    });
  });
});

describe('the form', () => {
  it('takes a job, in the namespace that it names', async () => {
    const answer = await desk.submit('apply', '', { yaml: JOB, namespace: ' shop ' });
    expect(textOf(answer)).toContain('Applied hello-world-ephemeral-job');
    expect(desk.started).toMatchObject([{ ...TAKEN, origin: { source: 'form' } }]);
  });

  it('stays open with line and column beside the field', async () => {
    const wrong = JOB.replace('replicas: 4', 'replicas: four').replace('parallelism: 1', 'paralelism: 1');
    const answer = await desk.submit('apply', '', { yaml: wrong });
    const yaml = answer.kind === 'errors' ? (answer.errors.yaml ?? '') : '';
    expect(yaml.split('\n').map((line) => line.split(' ')[0])).toEqual(['9:13', '11:3']);
    expect(desk.started).toEqual([]);
  });

  it('says how many more problems there are than fit beside the field', async () => {
    const many = `${JOB}${Array.from({ length: 30 }, (_, at) => `field${at}: 1`).join('\n')}`;
    const answer = await desk.submit('apply', '', { yaml: many });
    const yaml = answer.kind === 'errors' ? (answer.errors.yaml ?? '') : '';
    expect(yaml.length).toBeLessThanOrEqual(300);
    expect(yaml).toMatch(/\nand \d+ more$/);
  });

  it.each([
    [{ yaml: JOB, namespace: 'No Name' }, 'namespace'],
    [{ yaml: JOB.replace('metadata:', 'metadata:\n  namespace: other'), namespace: 'shop' }, 'namespace'],
    [{}, 'yaml'],
  ])('of %j says what is wrong beside the field', async (fields, field) => {
    const answer = await desk.submit('apply', '', fields as Record<string, string>);
    expect(answer).toEqual({ kind: 'errors', errors: { [field]: expect.any(String) } });
  });

  it('carries the cluster of the command, and nothing that is no name of one', async () => {
    await desk.submit('apply', 'prod', { yaml: JOB });
    await desk.submit('apply', '../x', { yaml: JOB }, 'U0EVE');
    expect(desk.started[0]?.request.cluster).toBe('prod');
    expect(desk.started).toHaveLength(2);
    expect(desk.started[1]?.request).not.toHaveProperty('cluster');
  });
});

describe('the shortcut on a message', () => {
  it('opens the form with the message’s code block', async () => {
    const answer = await shortcut(JOB);
    expect(answer.kind === 'form' ? answer.form.fields[0]?.initial : '').toBe(JOB.trimEnd());
    expect(desk.started).toEqual([]);
  });

  it('applies a job as it stands that no form could hold', async () => {
    const long = `# ${'x'.repeat(3_000)}\n${JOB}`;
    expect(textOf(await shortcut(long))).toContain('Applied hello-world-ephemeral-job');
    expect(desk.started).toMatchObject([
      { origin: { source: 'shortcut', requesterId: 'U0ROY', dedupeKey: 'shortcut-1' } },
    ]);
    await shortcut(long);
    expect(desk.started).toHaveLength(1);
  });

  it('says what is wrong with a long one, and that a message without a code block has none', async () => {
    expect(textOf(await shortcut(`# ${'x'.repeat(3_000)}\n${JOB}x: 1\n`))).toContain('manifest_invalid');
    expect(textOf(await shortcut(undefined))).toContain('manifest_missing');
  });

  it('opens nothing in a channel that the policy does not know', async () => {
    expect(textOf(await shortcut(JOB, { channelId: 'C0OTHER' }))).toContain('channel_unknown');
  });
});

describe('a channel that no policy names', () => {
  const elsewhere = { channelId: 'C0OTHER' };
  let texts: string[];
  beforeEach(() => {
    texts = [];
    const { manifests } = desk.world.deps();
    desk = new DeskWorld({
      manifests: {
        ...manifests,
        read: (yaml) => {
          texts.push(yaml);
          return manifests.read(yaml);
        },
      },
    });
  });

  it('is refused before its job is parsed, whatever the way in', async () => {
    const long = `${JOB}${'# a long job\n'.repeat(400)}`;
    expect(textOf(await shortcut(long, elsewhere))).toContain('channel_unknown');
    const origin = anOrigin({ dedupeKey: 'elsewhere', channelId: asChannelId('C0OTHER') });
    expect(textOf(await desk.inbox.command(origin, `apply -n shop\n${long}`))).toContain('channel_unknown');
    const form = { name: 'apply', value: '', fields: { yaml: JOB } } as const;
    const submission = { ...form, teamId: 'T0TEAM', userId: 'U0ROY' };
    const at = { ...elsewhere, dedupeKey: 'elsewhere-form', receivedAtMs: START_MS };
    expect(textOf(await desk.inbox.submit({ ...submission, ...at }))).toContain('channel_unknown');
    expect(texts).toEqual([]);
    expect(desk.started).toEqual([]);
  });

  it('is not the others: there the job is parsed', async () => {
    await desk.type(`apply -n shop\n${JOB}`);
    expect(texts).toHaveLength(1);
  });
});
