import { expect, it } from 'vitest';
import { completed } from '../../../../src/core/diagnosis/logs/open-ended.ts';

it.each([
  ['a line that ends in a colon', 'Error: invalid value:', ['', 'port 99999'], 'Error: invalid value: port 99999'],
  ['the last line', 'Error: invalid value:', [''], 'Error: invalid value:'],
  ['a whole line', 'Error: invalid value', ['bye'], 'Error: invalid value'],
  ['Redis without its line', '*** FATAL CONFIG FILE ERROR ***', ['bye'], '*** FATAL CONFIG FILE ERROR ***'],
])('completes %s', (_, line, following, whole) => {
  expect(completed(line, following)).toBe(whole);
});

it('does not say what Pydantic was given', () => {
  const following = ['token', "  Field required [type=missing, input_value={'password': 'sesame'}, input_type=dict]"];
  expect(completed('pydantic.ValidationError: 1 validation error for Settings', following)).toBe(
    'pydantic.ValidationError: 1 validation error for Settings: token: Field required',
  );
});
