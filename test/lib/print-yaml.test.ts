import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { printYaml } from '../../src/lib/yaml.ts';

it('what is printed reads back as the same, however odd or long the words and however often they come', () => {
  const names = ['*', 'yes', '1', '', 'slack:{userId}', 'a: b', '# no', "it's", 'long '.repeat(40)];
  const value = { names, again: names };
  expect(parse(printYaml(value))).toEqual(value);
  expect(printYaml(value)).not.toMatch(/[&*]a\d/);
});
