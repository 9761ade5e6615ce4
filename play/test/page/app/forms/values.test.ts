import { expect, it } from 'vitest';
import { optionsOf } from '../../../../page/app/blocks/options.ts';
import { complaintOf, firstOf, stateOf } from '../../../../page/app/forms/values.ts';
import { emptyWorld, plain } from '../../../browser/support/worlds.ts';

const option = (value: string) => ({ text: plain(value), value });
const options = [option('a'), option('b')];
const world = emptyWorld();

it.each([
  [{ type: 'plain_text_input' }, ['x'], { type: 'plain_text_input', value: 'x' }],
  [{ type: 'plain_text_input' }, [''], { type: 'plain_text_input', value: null }],
  [{ type: 'datepicker' }, ['2026-11-21'], { type: 'datepicker', selected_date: '2026-11-21' }],
  [{ type: 'static_select', options }, ['b'], { type: 'static_select', selected_option: option('b') }],
  [{ type: 'static_select', options }, [], { type: 'static_select', selected_option: null }],
  [{ type: 'radio_buttons', options }, ['a'], { type: 'radio_buttons', selected_option: option('a') }],
  [{ type: 'checkboxes', options }, ['a', 'b'], { type: 'checkboxes', selected_options: options }],
  [{ type: 'multi_static_select', options }, [], { type: 'multi_static_select', selected_options: [] }],
  [{ type: 'users_select' }, ['U0ROY'], { type: 'users_select', selected_user: 'U0ROY' }],
  [{ type: 'multi_users_select' }, ['U0ROY'], { type: 'multi_users_select', selected_users: ['U0ROY'] }],
  [{ type: 'channels_select' }, [], { type: 'channels_select', selected_channel: null }],
])('sends %j filled with %j as Slack does', (element, filled, expected) =>
  expect(stateOf(element, filled, optionsOf(element, world))).toEqual(expected),
);

it('begins with what the app put in', () => {
  expect(firstOf({ type: 'plain_text_input', initial_value: 'x' })).toEqual(['x']);
  expect(firstOf({ type: 'static_select', initial_option: option('a') })).toEqual(['a']);
  expect(firstOf({ type: 'checkboxes', initial_options: options })).toEqual(['a', 'b']);
  expect(firstOf({ type: 'users_select', initial_user: 'U0ROY' })).toEqual(['U0ROY']);
});

it.each([
  [{ element: { type: 'plain_text_input' } }, [' '], 'Please complete this required field.'],
  [{ optional: true, element: { type: 'plain_text_input' } }, [''], undefined],
  [{ element: { type: 'plain_text_input', min_length: 3 } }, ['ab'], 'Please enter at least 3 characters.'],
  [{ element: { type: 'number_input' } }, ['x'], 'Please enter a number.'],
  [{ element: { type: 'multi_static_select', max_selected_items: 1 } }, ['a', 'b'], 'Please choose at most 1.'],
  [{ element: { type: 'static_select' } }, ['a'], undefined],
])('says of %j with %j: %s', (block, filled, words) => expect(complaintOf(block, filled)).toBe(words));
