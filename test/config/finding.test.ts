import { expect, it } from 'vitest';
import { pathText } from '../../src/lib/yaml.ts';

it.each<[readonly (string | number)[], string]>([
  [[], ''],
  [['version'], 'version'],
  [['channels', 'C0SHOP', 'rules', 0, 'id'], 'channels.C0SHOP.rules[0].id'],
])('a path %j reads %j', (path, text) => {
  expect(pathText(path)).toBe(text);
});
