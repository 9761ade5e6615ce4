import { describe, expect, it } from 'vitest';
import { agoOf, dayTitle, slackDate } from '../../../../page/app/text/date.ts';

const AT = Date.UTC(2026, 10, 21, 11, 5, 9);
const reader = { zone: 'Europe/Berlin', nowMs: AT + 3_600_000 };
const said = (format: string, more: { nowMs?: number; zone?: string } = {}): string =>
  slackDate(AT / 1000, format, { ...reader, fallback: 'FALLBACK', ...more });

describe('a date of Slack', () => {
  it.each([
    ['{date_num}', '2026-11-21'],
    ['{date_slash}', '11/21/2026'],
    ['{date}', 'November 21st'],
    ['{date_long}', 'Saturday, November 21st, 2026'],
    ['{date_short}', 'Nov 21, 2026'],
    ['{date_pretty}', 'Today'],
    ['{date_short_pretty} {time_secs}', 'Today 12:05:09 PM'],
    ['Posted {date_pretty} at {time}', 'Posted today at 12:05 PM'],
    ['{ago}', '1 hour ago'],
  ])('writes %s', (format, words) => expect(said(format)).toBe(words));

  it('is in the zone of the reader, also across a day’s end', () => {
    expect(said('{date_num} {time}', { zone: 'Pacific/Auckland' })).toBe('2026-11-22 12:05 AM');
    expect(said('{date_num} {time}', { zone: 'America/Los_Angeles' })).toBe('2026-11-21 3:05 AM');
  });

  it('says yesterday and tomorrow, and the year when it is far', () => {
    expect(said('{date_pretty}', { nowMs: AT + 86_400_000 })).toBe('Yesterday');
    expect(said('{date_pretty}', { nowMs: AT - 86_400_000 })).toBe('Tomorrow');
    expect(said('{date}', { nowMs: AT + 300 * 86_400_000 })).toBe('November 21st, 2026');
  });

  it.each(['{__proto__}', '{constructor}', '{nothing}', ''])('falls back for %j', (format) => {
    expect(said(format)).toBe('FALLBACK');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e15])('falls back for the moment %d', (moment) => {
    expect(slackDate(moment, '{date}', { ...reader, fallback: 'FALLBACK' })).toBe('FALLBACK');
  });
});

it.each([
  [3_000, 'just now'],
  [59_000, '59 seconds ago'],
  [60_000, '1 minute ago'],
  [7_300_000, '2 hours ago'],
  [200_000_000, '2 days ago'],
  [-120_000, 'in 2 minutes'],
])('%d ms is %s', (ms, words) => expect(agoOf(AT, AT + ms)).toBe(words));

it('titles days', () => {
  expect(dayTitle(AT, reader)).toBe('Today');
  expect(dayTitle(AT, { ...reader, nowMs: AT + 5 * 86_400_000 })).toBe('Saturday, November 21st');
});
