import { describe, expect, it } from 'vitest';
import { BodyRoom, type BodySlot } from '../../../src/lib/streams/http-body.ts';

function enter(room: BodyRoom, evicted: string[], name: string, bytes: number): BodySlot {
  const place = room.enter(() => void evicted.push(name));
  place.hold(bytes);
  return place;
}

describe('room for unverified bodies', () => {
  it('lets all stay while they fit, counting growth once', () => {
    const evicted: string[] = [];
    const room = new BodyRoom(100);
    const place = enter(room, evicted, 'a', 10);
    for (const bytes of [20, 30, 40, 50]) place.hold(bytes);
    enter(room, evicted, 'b', 50);
    expect(evicted).toEqual([]);
  });

  it('makes the one that holds most give way, not the newcomer', () => {
    const evicted: string[] = [];
    const room = new BodyRoom(100);
    enter(room, evicted, 'small', 20);
    enter(room, evicted, 'large', 70);
    enter(room, evicted, 'new', 30);
    expect(evicted).toEqual(['large']);
  });

  it('makes a body larger than the room give way itself', () => {
    const evicted: string[] = [];
    const room = new BodyRoom(100);
    enter(room, evicted, 'small', 20);
    enter(room, evicted, 'huge', 101);
    expect(evicted).toEqual(['huge']);
  });

  it('has the room of those that left, however often they say so', () => {
    const evicted: string[] = [];
    const room = new BodyRoom(100);
    const gone = enter(room, evicted, 'gone', 90);
    gone.leave();
    gone.leave();
    gone.hold(90);
    enter(room, evicted, 'next', 100);
    expect(evicted).toEqual([]);
    enter(room, evicted, 'one more', 1);
    expect(evicted).toEqual(['next']);
  });

  it('never evicts a body below its fair share, whatever a thousand others hold', () => {
    const evicted: string[] = [];
    const room = new BodyRoom(1_000);
    enter(room, evicted, 'honest', 0.9);
    for (let other = 0; other < 999; other += 1) {
      const place = room.enter(() => void evicted.push('other'));
      for (let bytes = 1; bytes <= 20; bytes += 1) place.hold(bytes);
    }
    expect(evicted.length).toBeGreaterThan(0);
    expect(evicted).not.toContain('honest');
  });
});
