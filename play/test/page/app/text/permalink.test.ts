import { expect, it } from 'vitest';
import { readPermalink } from '../../../../page/app/text/permalink.ts';

it.each([
  ['https://local.slack.com/archives/C0SHOP/p1795258800000100', { channel: 'C0SHOP', ts: '1795258800.000100' }],
  [
    'https://local.slack.com/archives/C0SHOP/p1795258801000100?thread_ts=1795258800.000100&cid=C0SHOP',
    { channel: 'C0SHOP', ts: '1795258801.000100', threadTs: '1795258800.000100' },
  ],
  [
    'https://local.slack.com/archives/C0SHOP/p1795258800000100?thread_ts=1795258800.000100',
    { channel: 'C0SHOP', ts: '1795258800.000100' },
  ],
  ['https://other.slack.com/archives/C0SHOP/p1795258800000100', undefined],
  ['https://local.slack.com.example.com/archives/C0SHOP/p1795258800000100', undefined],
  ['https://local.slack.com/archives/C0SHOP', undefined],
  ['no address', undefined],
])('reads %s', (address, expected) => expect(readPermalink(address, 'local')).toEqual(expected));
