import { describe, expect, it } from 'vitest';
import type { Alert } from '../../../src/core/alert/notification.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { aNotification, anAlert, anAlertPolicy } from '../../support/alerts.ts';
import { anOrigin, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { PacedSlack } from '../support/paced-slack.ts';
import { World } from '../support/world.ts';

const ALERTS = 60;

/** A world whose Slack takes one post a second, and as many replicas as wanted on one store. */
class Storm {
  readonly world: World;
  readonly slack: PacedSlack;
  readonly replicas: readonly RunSupervisor[];

  constructor({ replicas = 1, parts = {} }: { readonly replicas?: number; readonly parts?: Partial<Policy> } = {}) {
    this.world = new World({ policy: anAlertPolicy({}, parts) });
    this.slack = new PacedSlack(this.world.clock);
    const deps = { ...this.world.deps(), thread: this.slack.thread };
    this.replicas = Array.from(
      { length: replicas },
      (_, index) => new RunSupervisor({ ...deps, owner: `replica-${index}` }),
    );
  }

  async tell(alerts: readonly Alert[], prefix = ''): Promise<void> {
    for (const [index, alert] of alerts.entries()) {
      const replica = this.replicas[index % this.replicas.length]!;
      const told = aNotification([alert], { groupKey: `group ${prefix}${index}` });
      expect(await replica.alerts.receive('shop', told)).toBe('accepted');
    }
    await settle();
  }

  /** How long a person waits for the first word about a request in the alerts' own channel. */
  async firstWordMs(): Promise<number> {
    const { clock } = this.world;
    const askedMs = clock.now();
    const isTheirs = ({ text }: { readonly text: string }) => text.includes('<@U0ROY>');
    await this.replicas[0]!.inbox.command(anOrigin({ receivedAtMs: askedMs }), 'web-1');
    for (let waits = 0; waits < 1_000 && !this.slack.posts.some(isTheirs); waits += 1) await clock.advance(100);
    return (this.slack.posts.find(isTheirs)?.atMs ?? Number.POSITIVE_INFINITY) - askedMs;
  }
}

const many = (alertOf: (index: number) => Partial<Alert>): readonly Alert[] =>
  Array.from({ length: ALERTS }, (_, index) => {
    const { labels, ...parts } = alertOf(index);
    return anAlert({ ...parts, labels: { alertname: `A${index}`, ...labels } });
  });
const labelled = (labelsOf: (index: number) => Record<string, string>) =>
  many((index) => ({ labels: labelsOf(index) }));

interface Kind {
  readonly name: string;
  readonly alerts: readonly Alert[];
  readonly parts?: Partial<Policy>;
}

/** Each alert is a group of its own. What becomes of it is not the same; that it must not fill the channel is. */
const KINDS: readonly Kind[] = [
  { name: 'about a pod that is there', alerts: labelled(() => ({})) },
  { name: 'about pods that are gone', alerts: labelled((index) => ({ pod: `gone-${index}` })) },
  { name: 'that name no pod', alerts: labelled(() => ({ pod: '' })) },
  { name: 'of a cluster that the policy does not know', alerts: labelled(() => ({ cluster: 'eu-2' })) },
  { name: 'about an exporter', alerts: labelled(() => ({ pod: 'kube-state-metrics-7d4b9c8f6d-abcde' })) },
  { name: 'that began long ago', alerts: many(() => ({ startsAtMs: START_MS - 16 * 60_000 })) },
  {
    name: 'of a workload that was looked at already',
    alerts: labelled((index) => ({ alertname: 'Same', team: `${index}` })),
  },
  { name: 'in a namespace without a rule', alerts: labelled(() => ({ namespace: 'other' })) },
  {
    name: 'in a channel without a free run',
    alerts: labelled(() => ({})),
    parts: { limits: { ...anAlertPolicy().limits, runsPerChannel: 0 } },
  },
];

describe('sixty alerts at once', () => {
  it.each(KINDS)(
    '%s are at most five messages of their channel, and a person has the first word within 2 s',
    async ({ alerts, parts = {} }) => {
      const storm = new Storm({ parts });
      await storm.tell(alerts);
      storm.world.policy = anAlertPolicy();
      expect(await storm.firstWordMs()).toBeLessThanOrEqual(2_000);
      await storm.world.clock.advance(120_000);
      // The person's own card is a root, too.
      expect(storm.slack.roots.filter(({ text }) => !text.includes('U0ROY')).length).toBeLessThanOrEqual(5);
      expect(storm.slack.posts.length).toBeGreaterThan(ALERTS);
    },
  );

  it('are as few messages at two replicas, which share the pace', async () => {
    const storm = new Storm({ replicas: 2 });
    await storm.tell(labelled((index) => ({ pod: `gone-${index}` })));
    await storm.world.clock.advance(120_000);
    expect(storm.slack.roots.length).toBeLessThanOrEqual(5);
    expect(storm.slack.posts).toHaveLength(ALERTS + 1);
    // The shared card is edited as they come, by whichever replica has it.
    expect(storm.slack.edits.at(-1)?.text).toMatch(
      /56 more alerts in #shop-oncall within a minute: shown in this thread/,
    );
    expect(storm.slack.edits.length).toBeLessThanOrEqual(50);
  });

  it('are counted, and what came within minutes is not said to have come within one', async () => {
    const storm = new Storm();
    const alerts = labelled(() => ({ pod: '' }));
    for (let minute = 0; minute < 3; minute += 1) {
      await storm.tell(alerts.slice(minute * 20, minute * 20 + 20), `${minute}`);
      await storm.world.clock.advance(60_000);
    }
    expect(storm.slack.edits.at(-1)?.text).toMatch(/^⚠️ 48 more alerts in #shop-oncall within 2 minutes: shown/);
  });

  it('that end at once make nobody wait either: their last words and edits are behind those of people', async () => {
    const storm = new Storm();
    const alerts = labelled((index) => ({ pod: `gone-${index}` }));
    await storm.tell(alerts);
    await storm.world.clock.advance(300_000);
    const endsAtMs = storm.world.clock.now();
    await storm.tell(alerts.map((alert) => ({ ...alert, isFiring: false, endsAtMs })));
    expect(await storm.firstWordMs()).toBeLessThanOrEqual(2_000);
    const before = storm.slack.edits.length;
    await storm.world.clock.advance(60_000);
    // Slack takes fifty edits a minute of all channels together; half of them are left to others; a few are of the person’s own card.
    expect(storm.slack.edits.length - before).toBeLessThanOrEqual(30);
    await storm.world.clock.advance(300_000);
    expect(storm.slack.posts.filter(({ text }) => text.includes('resolved after'))).toHaveLength(ALERTS);
  });
});
