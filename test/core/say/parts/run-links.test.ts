import { expect, it } from 'vitest';
import { linksPart } from '../../../../src/core/say/parts/run-buttons.ts';
import { aPlan, aRun, START_MS } from '../../../support/builders.ts';

const shown = (
  links: Readonly<Record<string, string>>,
  run = aRun({ plan: aPlan(), finishedAtMs: START_MS + 60_000 }),
) => {
  const part = linksPart(run, links);
  return part && 'links' in part ? part.links : [];
};

it('fills in the pod, and the time from a quarter of an hour before the request on', () => {
  const url = 'https://grafana.example.com/d/a?var-ns={namespace}&var-pod={pod}&c={cluster}&from={from}&to={to}';
  const [link] = shown({ Dashboard: url });
  expect(link).toEqual({
    label: 'Dashboard',
    url: `https://grafana.example.com/d/a?var-ns=shop&var-pod=web-1&c=prod&from=${START_MS - 900_000}&to=${START_MS + 360_000}`,
  });
});

it('lets no name end a value or begin another one', () => {
  const run = aRun({ plan: aPlan({ namespace: 'a&b=c#d', podName: 'x/../y' }) });
  expect(shown({ Logs: 'https://logs.example.com/{pod}?n={namespace}' }, run)[0]?.url).toBe(
    'https://logs.example.com/x%2F..%2Fy?n=a%26b%3Dc%23d',
  );
});

it('shows nothing of a run without a pod, and nothing where the policy has none', () => {
  const { plan: _, ...run } = aRun();
  expect(shown({ Logs: 'https://logs.example.com/' }, run)).toEqual([]);
  expect(shown({})).toEqual([]);
});
