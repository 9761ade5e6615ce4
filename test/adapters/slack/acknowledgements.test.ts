import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Delivery } from '../../../play/slack/index.ts';
import { HANDLERS, type Row } from '../../../src/adapters/slack/handlers.ts';
import { onCommand } from '../../../src/adapters/slack/listeners/command.ts';
import type { ListenerContext } from '../../../src/adapters/slack/listeners/gate.ts';
import { type Field, type Form, type Message, type Part, text } from '../../../src/core/say/message/message.ts';
import { DEFAULT_NAMES } from '../../../src/core/shown-names.ts';
import { waitLonger } from '../../support/patient-bed.ts';
import { inFullOr } from '../../support/sample.ts';
import { deed, formOf, openForm, typed } from './deeds.ts';
import { realClock, saying, says, startWorld, type World } from './harness.ts';
import { SHAPES } from './receiving/payload-shapes.ts';

/** Slack closes a connection that brings a frame of 20,480 bytes; the envelope's id is in it, too. */
const MAX_BYTES = 20_000;
const bytesOf = (body: unknown): number => Buffer.byteLength(JSON.stringify(body));

const TRANSPORTS = ['socket', 'http'] as const;
let worlds: Readonly<Record<(typeof TRANSPORTS)[number], World>>;
beforeAll(async () => {
  const rates = { extraPerMinute: 10_000 };
  worlds = { socket: await startWorld('socket', { rates }), http: await startWorld('http', { rates }) };
  for (const { local } of Object.values(worlds)) waitLonger(local);
});
afterAll(() => Promise.all(Object.values(worlds).map((world) => world.stop())));
afterEach(() => {
  for (const { local, inbox, log } of Object.values(worlds)) {
    for (const view of local.views()) view.open = false;
    inbox.forget();
    log.records.length = 0;
  }
});

const option = (value: string, label: string) => ({ value, label, description: label });
const fieldWith = (label: string, options: number): Field => ({
  ...{ id: 'pod', kind: 'choice', label, hint: label, optional: true },
  options: Array.from({ length: options }, (_, index) => option(`${index}-${label}`.slice(0, 150), label)),
});

interface Content {
  readonly words: string;
  readonly many: number;
}

/** Every answer that an inbox can give, as large as it can be made. */
function answerWith({ inbox }: World, { words, many }: Content): void {
  const paragraphs = Array.from({ length: many }, () => saying(words).parts[0]!);
  const message: Message = { summary: words, notification: [text(words)], tone: 'neutral', parts: paragraphs };
  const form: Form = formOf('debug', { intro: words, fields: [fieldWith(words, many)] });
  const errors = Object.fromEntries(
    Array.from({ length: many }, (_, index) => [index === 0 ? 'pod' : `${index}`, words]),
  );
  const submitAnswers = [
    { kind: 'taken', message },
    { kind: 'errors', errors },
    { kind: 'form', channelId: 'C0SHOP', form },
  ] as const;
  inbox.answer = async () => ({ kind: 'message', message });
  inbox.options = async () =>
    Array.from({ length: many }, (_, index) => option(`${index}-${words}`.slice(0, 150), words));
  inbox.changed = async () => form;
  inbox.submitAnswer = async () => submitAnswers[many % submitAnswers.length]!;
}

/** More than twice what fits; what is larger only keeps the machine busy. */
const MOST_CHARACTERS = 50_000;
const content: fc.Arbitrary<Content> = fc
  .record({
    words: fc
      .tuple(fc.constantFrom('a', '&', '"', 'ж', '漢', '💥', '\\'), fc.constantFrom(1, 60, 300, 3_000))
      .map(([unit, length]) => unit.repeat(length)),
    many: fc.constantFrom(1, 2, 3, 98, 99, 100, 150),
  })
  .filter(({ words, many }) => words.length * many <= MOST_CHARACTERS);

/** What may be acknowledged with content; the others are checked all the same. */
const CARRIES: ReadonlySet<string> = new Set(['command', 'search', 'view']);

/** On a machine that was too busy for its pings a connection is lost, before or while it delivers: then once more, over a new one. */
async function delivered(world: World, row: Row, kind: (typeof TRANSPORTS)[number]): Promise<Delivery> {
  const once = async () => {
    if (kind === 'socket') await expect.poll(() => world.local.sockets.count).toBeGreaterThan(0);
    return deed(world, row, { user: 'U0ROY' });
  };
  const first = await once();
  return first.error === undefined ? first : once();
}

describe.each(HANDLERS.map((row) => [`${row.listens} ${row.name}`, row] as const))('%s', (_name, row) => {
  it.each(TRANSPORTS)('is acknowledged within what Slack takes, whatever the inbox answers, over %s', async (kind) => {
    const world = worlds[kind];
    await fc.assert(
      fc.asyncProperty(content, async (one) => {
        answerWith(world, one);
        const { status, body } = await delivered(world, row, kind);
        expect(status).toBe(200);
        expect(bytesOf(body)).toBeLessThanOrEqual(MAX_BYTES);
        for (const view of world.local.views()) view.open = false;
      }),
      { numRuns: CARRIES.has(row.listens) ? inFullOr(30, 5) : inFullOr(3, 1), endOnFailure: true },
    );
  });
});

describe.each(TRANSPORTS)('what is too large for an acknowledgement, over %s', (kind) => {
  let there: World;
  beforeAll(async () => {
    there = await startWorld(kind, { rates: { extraPerMinute: 1_000 } });
  });
  afterAll(() => there.stop());

  const complaints = () => there.log.records.filter(({ level }) => level === 'error');
  const logged = (type: string) => ({
    message: 'acknowledgement too large for Slack, sent without its content',
    fields: { type, bytes: expect.any(Number) },
  });
  it('is told privately: a table, which some Slacks refuse', async () => {
    there.local.habits.withoutBlocks = ['table'];
    const told = there.local.ephemerals('U0ROY').length;
    const table: Part = { kind: 'table', columns: [{ label: 'Pods' }], rows: [[[text('web-1')]]] };
    there.inbox.answer = async () => ({ kind: 'message', message: { ...saying('one'), parts: [table] } });
    const { body } = await there.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'batch' });
    expect(body).toBe('');
    await there.local.until(() => there.local.ephemerals('U0ROY').length > told);
    const { blocks } = there.local.ephemerals('U0ROY').at(-1)!;
    expect(JSON.stringify(blocks)).toContain('web-1');
    expect(JSON.stringify(blocks)).not.toContain('"table"');
    there.local.habits.withoutBlocks = [];
  });

  it('opens in a window of its own: a form', async () => {
    const before = complaints().length;
    const wide = formOf('debug', { intro: 'The next form', fields: [fieldWith('漢'.repeat(75), 100)] });
    there.inbox.submitAnswer = async () => ({ kind: 'form', channelId: 'C0SHOP', form: wide });
    const viewId = await openForm(there, 'pick-channel');
    const { body } = await there.local.deliver.viewSubmission({ user: 'U0ROY', viewId, values: typed('x') });
    expect(body).toBe('');
    const next = await there.local.until(() => there.local.views('U0ROY').find(({ id }) => id !== viewId));
    expect(JSON.stringify(next.view)).toContain('The next form');
    expect(complaints().slice(before)).toMatchObject([logged('view pick-channel')]);
  });

  it('is told privately: what is wrong in a form', async () => {
    const told = there.local.ephemerals('U0ROY').length;
    const ids = Array.from({ length: 40 }, (_, index) => `field${index}`);
    const fields = ids.map((id): Field => ({ id, label: id, kind: 'line', optional: true }));
    there.inbox.submitAnswer = async () => ({
      kind: 'errors',
      errors: Object.fromEntries(ids.map((id) => [id, `${id} ${'漢'.repeat(290)}`])),
    });
    const viewId = await openForm(there, 'debug', { fields });
    const values = Object.fromEntries(ids.map((id) => [id, { [id]: { type: 'plain_text_input', value: 'x' } }]));
    const { body } = await there.local.deliver.viewSubmission({ user: 'U0ROY', viewId, values });
    expect(body).toBe('');
    const said = await there.local.until(() => there.local.ephemerals('U0ROY')[told]);
    expect(JSON.stringify(said.blocks)).toContain('field0 漢');
  });
});

it('a message that does not go with the acknowledgement of a command is told privately after it', async () => {
  const told: unknown[] = [];
  const background: Promise<void>[] = [];
  const context = {
    clock: realClock,
    log: worlds.http.log,
    names: DEFAULT_NAMES,
    identity: { teamId: 'T0LOCAL', botUserId: 'U0KDEBUG', appId: 'A0KDEBUG' },
    directory: { person: async () => ({ kind: 'member' }) },
    inbox: { command: async () => says('all of it') },
    thread: { tell: async (...args: unknown[]) => void told.push(args) },
    isStopping: () => false,
    inBackground: (work: Promise<void>) => void background.push(work),
  } as unknown as ListenerContext;
  const { body } = SHAPES.command!;
  const [row] = HANDLERS;
  await onCommand({ context, handler: row!, body }, async () => false);
  await Promise.all(background);
  expect(told).toEqual([
    [
      expect.objectContaining({ channelId: 'C0SHOP', userId: 'U0ROY', responseUrl: body.response_url }),
      saying('all of it'),
    ],
  ]);
});
