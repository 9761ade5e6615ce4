import { expect, it } from 'vitest';
import { podInText } from '../../../src/core/say/pod-in-text.ts';

it.each([
  ['HighLatency pod=pod-1234 namespace=shop', { pod: 'pod-1234', namespace: 'shop' }],
  ['Pod shop/payments-sockets-0 (payments) is restarting', { pod: 'payments-sockets-0', namespace: 'shop' }],
  ['shop is slow, look at pod `cart-leaky-0`.', { pod: 'cart-leaky-0' }],
  ['the pod neato-5thn0: no answer, namespace: shop', { pod: 'neato-5thn0', namespace: 'shop' }],
  ['pod shop/web-7d9f8b6c5-abcde is gone', { pod: 'web-7d9f8b6c5-abcde', namespace: 'shop' }],
])('reads the pod that a message names: %s', (words, hint) => {
  expect(podInText(words)).toEqual(hint);
});

it.each([
  'each pod and/or node-1 in us-east-1 is slow',
  'the top-10 of orders-0, utf-8, see feature/shop-12',
  'a pod in eu-west-1 with pods web-1',
  'pod web-1/extra or pod web-1.example.com',
  'said: debian on shop/pod-1234',
])('guesses no pod where there may be none: %s', (words) => {
  expect(podInText(words)).toEqual({});
});

it('reads what our own card looks at, whatever its log says', () => {
  const card = (line: string) =>
    ` pod-1234: Succeeded\n${line}\nautodiagnose · shop · prod ·\n@U0ROY\n· run abcdefghij`;
  for (const person of ['@U0ROY', 'Roy', 'Roy van Dyk (support)']) {
    const summary = `\n✅ Succeeded after 1 s: autodiagnose on shop/pod-1234, for ${person}`;
    expect(podInText(card('read') + summary)).toEqual({ pod: 'pod-1234', namespace: 'shop' });
    expect(podInText(card('pod=other namespace=dark') + summary)).toEqual({ pod: 'pod-1234', namespace: 'shop' });
  }
});

it('reads a card that waits for an approval, whatever its reason says', () => {
  const card = 'prod · pod uid 1 · run abcdefghij';
  const decidedOn = '\nCommand: gdb -p 1\nAccess: privileged\nsre: 1 approval needed, expires at 07:45 UTC';
  for (const person of ['@U0ROY', 'Thurston van Dyk'])
    for (const reason of ['', ': it hangs', ': as before: debugger on dark/other', ': pod=other'])
      for (const more of ['', decidedOn]) {
        const summary = `\n🔐 Approval needed: ${person}, debugger (sysadmin) on shop/pod-1234`;
        expect(podInText(card + summary + reason + more)).toEqual({ pod: 'pod-1234', namespace: 'shop' });
      }
});

it.each([
  ['a label that is no name', 'pod=<!channel> namespace=shop', { namespace: 'shop' }],
  ['an upper-case name', 'pod=Web-1 namespace=SHOP', {}],
  ['a selector', 'pod=web-*', {}],
  ['flags', 'pod=--profile=sysadmin namespace=-n', {}],
  ['an address', 'https://grafana.example/d/x?pod=web-1&namespace=shop', {}],
  ['what Prometheus scrapes', 'job=node namespace=shop', { namespace: 'shop' }],
])('takes no more than a name of Kubernetes: %s', (_, words, hint) => {
  expect(podInText(words)).toEqual(hint);
});

it.each(['pod=', 'pod ', 'namespace: ', '● pod `', 'Pod\n', 'a-', 'Job a/', '· run aaaaaaaaaa '])(
  'reads a message of nothing but %j',
  (words) => {
    expect(podInText(words.repeat(20_000)).pod?.length ?? 0).toBeLessThan(254);
  },
);
