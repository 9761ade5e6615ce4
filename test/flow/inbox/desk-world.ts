import { inboxInNames } from '../../../src/adapters/slack/views/in-names.ts';
import type { ActionName, FormName } from '../../../src/core/actions.ts';
import type { Run } from '../../../src/core/run/run.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { DEFAULT_NAMES } from '../../../src/core/shown-names.ts';
import type { FlowDeps } from '../../../src/flow/context/deps.ts';
import { HeldRun } from '../../../src/flow/context/held-run.ts';
import { CommandInbox } from '../../../src/flow/inbox/inbox.ts';
import type { Click, Inbox, Submission } from '../../../src/flow/ports/slack.ts';
import { anOrigin, START_MS } from '../../support/builders.ts';
import { World } from '../support/world.ts';

/** The inbox on a store, with nothing behind it: what was taken stays as it was written. */
export class DeskWorld {
  readonly world = new World();
  readonly started: Run[] = [];
  /** As Slack's adapter calls it, with the default names. */
  readonly inbox: Inbox;
  /** Another replica holds every run. */
  isElsewhere = false;
  #dedupe = 0;

  constructor(over: Partial<FlowDeps> = {}) {
    const deps = { ...this.world.deps(), ...over };
    const inbox = new CommandInbox(
      deps,
      { refusalFor: () => undefined, start: ({ run }) => void this.started.push(run) },
      {
        change: async (id, act) => {
          const lease = this.isElsewhere ? undefined : await deps.store.lease(id, deps.owner);
          if (!lease || !('run' in lease)) return this.isElsewhere ? 'elsewhere' : 'settled';
          const held = new HeldRun(lease, deps);
          try {
            return await act(held);
          } finally {
            await held.release();
          }
        },
      },
    );
    this.inbox = inboxInNames(inbox, DEFAULT_NAMES);
  }

  /** A run that is there, with its card posted. */
  async keep(run: Run): Promise<void> {
    const { store, clock } = this.world;
    const anchor = { channelId: 'C0SHOP', ts: '1.0' };
    const origin = { ...run.origin, dedupeKey: `kept-${run.id}`, receivedAtMs: clock.now() };
    const kept = await store.create({ ...run, origin, delivery: { ...run.delivery, anchor } }, this.world.deps().owner);
    if (kept.kind === 'created') await store.release(run.id, kept.fence);
  }

  async now(run: Run): Promise<Run> {
    const found = await this.world.store.read(run.id);
    if (!found) throw new Error('the store has no run');
    return found;
  }

  type(words: string, userId = 'U0ROY') {
    this.#dedupe += 1;
    const origin = anOrigin({ dedupeKey: `typed-${this.#dedupe}` });
    return this.inbox.command({ ...origin, requesterId: userId as typeof origin.requesterId }, words);
  }

  click(action: ActionName, run: Run, over: Partial<Click> = {}) {
    return this.inbox.action({
      action,
      value: run.id,
      teamId: 'T0TEAM',
      userId: 'U0ROY',
      channelId: 'C0SHOP',
      messageTs: '1.0',
      dedupeKey: `${action}-${run.id}`,
      ...over,
    });
  }

  submit(name: FormName, value: string, fields: Submission['fields'], userId = 'U0ROY') {
    return this.inbox.submit({
      name,
      value,
      fields,
      teamId: 'T0TEAM',
      userId,
      channelId: 'C0SHOP',
      dedupeKey: `${name}-${value}`,
      receivedAtMs: START_MS,
    });
  }

  /** What was recorded of changes to batches, the newest last. */
  recorded() {
    return this.world.audit.entries
      .filter(({ step }) => step === 'batch')
      .map(({ actorId, facts }) => ({ actorId, ...facts }));
  }
}

/** A private answer, or its whole content as text. */
export const textOf = (answer: { readonly kind: string; readonly message?: Message }): string =>
  JSON.stringify(answer.message ?? answer.kind);
