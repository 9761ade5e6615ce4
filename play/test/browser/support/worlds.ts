import type { Example, PagePod, Snapshot } from '../../../page/contract.ts';
import type { Json, StoredMessage, StoredView } from '../../../slack/state/message.ts';
import { defaultTeam } from '../../../slack/state/team.ts';

export const BOT = 'U0KDEBUG';
export const SHOP = 'C0SHOP';

/** 2026-11-21 11:00:00 UTC, in seconds. */
export const NOON = 1_795_258_800;

/** Makes Roy, in the shop’s channel, who one is at first. */
const ROY: Example = {
  id: 'roy',
  title: 'A first look',
  story: 'Roy looks.',
  user: 'U0ROY',
  channel: SHOP,
  text: '/kdebug pod-1234 --image=autodiagnose',
  // biome-ignore lint/suspicious/noThenProperty: the contract's word; never a promise
  then: 'Send it.',
};

let made = 0;

/** A world with nothing said in it yet; each call is another world. */
export function emptyWorld(more: Partial<Snapshot> = {}): Snapshot {
  made += 1;
  return {
    world: `world-${made}`,
    team: defaultTeam(BOT),
    botUserId: BOT,
    messages: [],
    ephemerals: [],
    notified: [],
    files: [],
    views: [],
    isRealCluster: false,
    pods: [pod('pod-1234'), pod('neato-5thn0')],
    events: [],
    requests: [],
    completion: {
      verbs: [
        { word: 'help', does: 'This help' },
        { word: 'list', does: 'The runs of this channel' },
      ],
      flags: [
        { word: '--image', does: 'The image to run', values: ['autodiagnose', 'debian'] },
        { word: '--namespace', does: 'The namespace', values: ['shop', 'vault'] },
        { word: '--profile', does: 'The profile', values: ['auto', 'sysadmin'] },
        { word: '--target', does: 'The container' },
      ],
      images: [
        { word: 'autodiagnose', does: 'observe' },
        { word: 'debian', does: 'observe' },
      ],
      namespaces: ['shop', 'vault'],
    },
    examples: [ROY],
    troubles: [],
    troublesOn: [],
    shortcuts: [{ callbackId: 'debug-pod', name: 'Debug a pod' }],
    globalShortcuts: [{ callbackId: 'debug-anywhere', name: 'Debug a pod' }],
    hasHome: true,
    ...more,
  };
}

export const pod = (name: string): PagePod => ({
  namespace: 'shop',
  name,
  uid: `uid-${name}`,
  node: 'local-node',
  phase: 'Running',
  deleting: false,
  containers: [
    { name: 'web', image: 'registry.example.com/shop/web:2.7', kind: 'container', state: 'running', restarts: 0 },
  ],
});

/** A message at so many seconds after noon. */
export const message = (second: number, more: Partial<StoredMessage> = {}): StoredMessage => ({
  channel: SHOP,
  ts: `${NOON + second}.000100`,
  user: 'U0BOB',
  text: `said at ${second}`,
  blocks: [],
  files: [],
  revisions: 0,
  reactions: [],
  ...more,
});

export const fromBot = (second: number, blocks: Json[], more: Partial<StoredMessage> = {}): StoredMessage =>
  message(second, { user: BOT, botId: 'B0KDEBUG', appId: 'A0KDEBUG', text: 'fallback', blocks, ...more });

export const modalOf = (view: Json, user = 'U0ROY'): StoredView => ({
  id: `V${made}`,
  kind: 'modal',
  user,
  view: { type: 'modal', title: plain('Debug a pod'), submit: plain('Debug'), close: plain('Cancel'), ...view },
  hash: 'h',
  open: true,
});

export const plain = (text: string): Json => ({ type: 'plain_text', text, emoji: false });

export const richText = (...elements: Json[]): Json => ({
  type: 'rich_text',
  block_id: `rich-${elements.length}`,
  elements: [{ type: 'rich_text_section', elements }],
});

export const preformatted = (text: string): Json => ({
  type: 'rich_text',
  block_id: 'pre',
  elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
});
