import { describe, expect, it } from 'vitest';
import { actionOf, findPressed } from '../../slack/deliver/press.ts';

const option = (value: string) => ({ text: { type: 'plain_text', text: value, emoji: false }, value });
const [a, b, c] = [option('a'), option('b'), option('c')];

function said(element: object, chosen: readonly string[]): object {
  const block = { type: 'section', block_id: 'row', accessory: { action_id: 'pick', ...element } };
  const { action_id, block_id, type, action_ts, ...rest } = actionOf(
    findPressed([block], { actionId: 'pick', blockId: 'row' }),
    { actionId: 'pick', chosen },
    '1.5',
  );
  expect([action_id, block_id, action_ts]).toEqual(['pick', 'row', '1.5']);
  return rest;
}

describe('what Slack says was chosen', () => {
  it.each([
    ['static_select', { options: [a, b] }, ['b'], { selected_option: b }],
    ['static_select', { option_groups: [{ options: [a] }, { options: [b, c] }] }, ['c'], { selected_option: c }],
    ['overflow', { options: [a, b] }, ['a'], { selected_option: a }],
    ['radio_buttons', { options: [a, b] }, ['b'], { selected_option: b }],
    ['checkboxes', { options: [a, b, c] }, ['a', 'c'], { selected_options: [a, c] }],
    ['checkboxes', { options: [a, b] }, [], { selected_options: [] }],
    ['multi_static_select', { options: [a, b] }, ['a', 'b'], { selected_options: [a, b] }],
    ['users_select', {}, ['U0ROY'], { selected_user: 'U0ROY' }],
    ['channels_select', {}, ['C0SHOP'], { selected_channel: 'C0SHOP' }],
    ['conversations_select', {}, ['C0SHOP'], { selected_conversation: 'C0SHOP' }],
    ['multi_users_select', {}, ['U0ROY', 'U0BOB'], { selected_users: ['U0ROY', 'U0BOB'] }],
    ['multi_channels_select', {}, [], { selected_channels: [] }],
    ['multi_conversations_select', {}, ['C0SHOP'], { selected_conversations: ['C0SHOP'] }],
    ['static_select', { options: [a] }, ['not there'], { selected_option: null }],
  ])('in a %s with %j: %j', (type, more, chosen, expected) => {
    expect(said({ type, ...more }, chosen)).toEqual(expected);
  });
});
