import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSession, placeKey, type Session } from '../../../../page/app/state/session.ts';
import { createStore } from '../../../../page/app/state/store.ts';
import { ephemeralsFor, hasUnreadThread, unreadIn } from '../../../../page/app/state/unread.ts';
import { applyChange, logOf, worldOf } from '../../../../page/app/state/world.ts';
import type { PageChange } from '../../../../page/contract.ts';
import { emptyWorld, message, pod, SHOP } from '../../../browser/support/worlds.ts';

const root = message(1);
const reply = message(3, { threadTs: root.ts });
const start = worldOf(emptyWorld({ messages: [reply, message(2), root] }));

describe('the world', () => {
  it('puts messages and replies in order, whatever order they came in', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 30 }), (seconds) => {
        const changes = seconds.map((second): PageChange => ({ kind: 'message', message: message(second) }));
        const stamps = logOf(changes.reduce(applyChange, worldOf(emptyWorld())), SHOP).roots.map(({ ts }) => ts);
        expect(stamps).toEqual([...new Set(stamps)].sort());
        expect(stamps.length).toBe(new Set(seconds).size);
      }),
    );
  });

  it('changes one message and leaves all others the same objects', () => {
    const before = logOf(start, SHOP);
    const after = logOf(applyChange(start, { kind: 'message', message: { ...root, text: 'new' } }), SHOP);
    expect(after.roots.map(({ text }) => text)).toEqual(['new', 'said at 2']);
    expect(after.roots[1]).toBe(before.roots[1]);
    expect(after.replies).toBe(before.replies);
  });

  it('is the same when a change comes twice', () => {
    const changes: PageChange[] = [
      { kind: 'message', message: message(9) },
      { kind: 'message-gone', channel: SHOP, ts: reply.ts },
      { kind: 'pod', pod: { ...pod('pod-1234'), phase: 'Failed' } },
      { kind: 'pod-gone', namespace: 'shop', name: 'neato-5thn0' },
      { kind: 'ephemeral', message: message(4, { visibleTo: 'U0ROY' }) },
      { kind: 'request', request: { id: 'r', to: 'slack', atMs: 1, what: 'x', status: 200 } },
      { kind: 'troubles-on', on: ['node-away'] },
    ];
    const once = changes.reduce(applyChange, start);
    expect(changes.reduce(applyChange, once)).toEqual(once);
    expect(once.pods.map(({ phase }) => phase)).toEqual(['Failed']);
    expect(logOf(once, SHOP).replies.get(root.ts)).toEqual([]);
  });

  it('keeps no more events and requests than it says, the newest', () => {
    let world = start;
    for (let id = 0; id < 600; id += 1) {
      const event = {
        uid: `e${id}`,
        atMs: id,
        type: 'Normal',
        reason: 'r',
        message: 'm',
        namespace: 'n',
        pod: 'p',
        count: 1,
      };
      world = applyChange(world, { kind: 'event', event });
      world = applyChange(world, {
        kind: 'request',
        request: { id: `r${id}`, to: 'slack', atMs: id, what: 'x', status: 0 },
      });
    }
    expect([world.events.length, world.events.at(-1)?.uid]).toEqual([200, 'e599']);
    expect([world.requests.length, world.requests.at(-1)?.id]).toEqual([500, 'r599']);
  });

  it('is not hurt by a change that it does not know', () => {
    expect(applyChange(start, { kind: 'constructor' } as unknown as PageChange)).toBe(start);
  });
});

const storageOf = (value: string | null) => ({ getItem: () => value });
const session = (more: Partial<Session> = {}): Session => ({
  ...openSession(emptyWorld(), storageOf(null)),
  ...more,
});

describe('what is unread', () => {
  it('is what others said after one looked last, in the channel and in threads apart', () => {
    expect(unreadIn(start, session(), SHOP)).toBe(2);
    expect(unreadIn(start, session({ person: 'U0BOB' }), SHOP)).toBe(0);
    expect(unreadIn(start, session({ since: root.ts }), SHOP)).toBe(1);
    const read = { [placeKey('U0ROY', SHOP)]: message(2).ts };
    expect(unreadIn(start, session({ read }), SHOP)).toBe(0);
    expect(hasUnreadThread(start, session({ read }), SHOP)).toBe(true);
    const all = { ...read, [placeKey('U0ROY', SHOP, root.ts)]: reply.ts };
    expect(hasUnreadThread(start, session({ read: all }), SHOP)).toBe(false);
  });

  it('shows private messages to their person, until dismissed', () => {
    const own = message(5, { visibleTo: 'U0ROY' });
    const world = applyChange(start, { kind: 'ephemeral', message: own });
    expect(ephemeralsFor(world, session(), SHOP)).toEqual([own]);
    expect(ephemeralsFor(world, session({ person: 'U0BOB' }), SHOP)).toEqual([]);
    expect(ephemeralsFor(world, session({ dismissed: [own.ts] }), SHOP)).toEqual([]);
  });
});

describe('the session', () => {
  it('begins as the first example says, and is what was kept of this world', () => {
    expect(session()).toMatchObject({ person: 'U0ROY', channel: SHOP, guide: true });
    expect(openSession(emptyWorld(), storageOf('{"person":"U0BOB"}'))).toMatchObject({
      person: 'U0BOB',
      channel: SHOP,
    });
  });

  it.each(['', '{', 'null', '7'])('begins anew when %j was kept', (kept) => {
    expect(openSession(emptyWorld(), storageOf(kept)).person).toBe('U0ROY');
  });
});

it('tells a store’s listeners of changes only', () => {
  const store = createStore(1);
  const heard: number[] = [];
  const stop = store.subscribe(() => heard.push(store.get()));
  store.set((now) => now);
  store.set((now) => now + 1);
  stop();
  store.set((now) => now + 1);
  expect(heard).toEqual([2]);
});
