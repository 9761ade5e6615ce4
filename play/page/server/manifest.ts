import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Snapshot } from '../contract.ts';

const Manifest = z.object({
  features: z.object({
    shortcuts: z.array(z.object({ name: z.string(), type: z.string(), callback_id: z.string() })).default([]),
  }),
  settings: z.object({
    event_subscriptions: z.object({ bot_events: z.array(z.string()).default([]) }),
  }),
});

/** What the page needs to know of the app as it would be installed. */
export interface AppManifest {
  readonly shortcuts: Snapshot['shortcuts'];
  /** Whether the app gets an event for direct messages to it (`message.im`). */
  readonly hearsDirectMessages: boolean;
}

const FILE = new URL('../../../slack-app.yml', import.meta.url);

export function readManifest(): AppManifest {
  const { features, settings } = Manifest.parse(parse(readFileSync(FILE, 'utf8')));
  return {
    shortcuts: features.shortcuts
      .filter(({ type }) => type === 'message')
      .map(({ callback_id, name }) => ({ callbackId: callback_id, name })),
    hearsDirectMessages: settings.event_subscriptions.bot_events.includes('message.im'),
  };
}
