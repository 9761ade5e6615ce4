import { expect, it } from 'vitest';
import { REASONS } from '../../src/core/errors.ts';
import { sentence } from '../../src/lib/text.ts';

it('begins with a capital, but for the name of kdebug', () => {
  expect(sentence('pod not found')).toBe('Pod not found.');
  expect(sentence('kdebug is not in this channel')).toBe('kdebug is not in this channel.');
  expect(sentence('no such run in this channel: x.')).toBe('No such run in this channel: x.');
});

it('no reason is said with Kdebug, nor with marks that Slack shows as they are', () => {
  for (const { title, hint } of Object.values(REASONS)) {
    expect(sentence(title)).not.toMatch(/Kdebug|`/);
    expect(hint).not.toMatch(/Kdebug|`/);
  }
});
