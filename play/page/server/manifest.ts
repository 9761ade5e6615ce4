import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Snapshot } from '../contract.ts';

const Manifest = z.object({
  features: z.object({
    app_home: z.object({ home_tab_enabled: z.boolean() }),
    shortcuts: z.array(z.object({ name: z.string(), type: z.string(), callback_id: z.string() })).default([]),
  }),
});

/** What the page needs to know of the app as it would be installed. */
export interface AppManifest {
  readonly shortcuts: Snapshot['shortcuts'];
  readonly globalShortcuts: Snapshot['shortcuts'];
  readonly hasHome: boolean;
}

const FILE = new URL('../../../slack-app.yml', import.meta.url);

export function readManifest(): AppManifest {
  const { features } = Manifest.parse(parse(readFileSync(FILE, 'utf8')));
  const shortcutsOf = (wanted: string) =>
    features.shortcuts
      .filter(({ type }) => type === wanted)
      .map(({ callback_id, name }) => ({ callbackId: callback_id, name }));
  return {
    shortcuts: shortcutsOf('message'),
    globalShortcuts: shortcutsOf('global'),
    hasHome: features.app_home.home_tab_enabled,
  };
}
