import { expect, it } from 'vitest';
import { isUnseen, notifiedOf, unseenOf } from '../../../../page/app/state/notified.ts';
import { openSession, type Session } from '../../../../page/app/state/session.ts';
import { applyChange, worldOf } from '../../../../page/app/state/world.ts';
import type { Notification } from '../../../../slack/state/message.ts';
import { emptyWorld, message, SHOP } from '../../../browser/support/worlds.ts';

const root = message(1);
const notification = (second: number, more: Partial<Notification> = {}): Notification => ({
  user: 'U0ROY',
  channel: SHOP,
  ts: message(second).ts,
  why: 'mention',
  phone: 'pushed',
  desktop: 'pushed',
  ...more,
});
const start = emptyWorld({ messages: [root] });
const session: Session = openSession(start, { getItem: () => null });
const after = (...all: Notification[]) =>
  all.reduce((world, one) => applyChange(world, { kind: 'notified', notification: one }), worldOf(start));

it('lists a person’s own, newest first, and none twice', () => {
  const world = after(
    notification(2),
    notification(3),
    notification(3, { phone: 'again' }),
    notification(4, { user: 'U0BOB' }),
  );
  expect(notifiedOf(world, 'U0ROY').map(({ phone }) => phone)).toEqual(['again', 'pushed']);
});

it('counts what waits in all places or in one, until its message was read', () => {
  const inThread = notification(5, { threadTs: root.ts });
  const world = after(notification(2), notification(3, { channel: 'C0OPS' }), inThread);
  expect(unseenOf(world, session, { person: 'U0ROY' })).toBe(3);
  expect(unseenOf(world, session, { person: 'U0ROY', channel: SHOP })).toBe(2);
  expect(unseenOf(world, session, { person: 'U0BOB' })).toBe(0);
  const read = { ...session, read: { [`U0ROY/${SHOP}`]: message(9).ts } };
  expect(unseenOf(world, read, { person: 'U0ROY', channel: SHOP })).toBe(1);
  expect(isUnseen(read, inThread)).toBe(true);
});

it('counts as another person what that person has not read', () => {
  const bob = { ...session, person: 'U0BOB', read: { [`U0BOB/${SHOP}`]: message(9).ts } };
  expect(unseenOf(after(notification(2)), bob, { person: 'U0ROY' })).toBe(1);
});
