import { KubeConfig } from '@kubernetes/client-node';
import type { Team } from '../play/slack/index.ts';

export const contextOf = (kubeconfig: string): string => {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  return config.getCurrentContext();
};

/** Channels of the bench: Slack takes one post a second in each, and a person does not type in one channel all day. */
export const channelId = (index: number): string => `C0BENCH${index}`;

export interface BenchPolicy {
  readonly context: string;
  readonly namespace: string;
  /** What `--image=debian` stands for. */
  readonly image: string;
  readonly channels: number;
  /** For rows with many pods at once. */
  readonly batch?: { readonly maxPods: number; readonly maxParallelism: number };
}

/** Everyone may run commands in the one namespace, from every channel of the bench, as often as the limits can say. */
export const policyText = ({ context, namespace, image, channels, batch }: BenchPolicy): string => `version: 1
clusters:
  bench: { context: ${JSON.stringify(context)}, default: true }
identity: { mode: serviceAccount }
images:
  debian: { image: ${JSON.stringify(image)}, class: observe, command: allowed }
defaultImage: debian
channels:
${Array.from({ length: channels }, (_, index) => channelText(channelId(index), namespace, batch)).join('')}
limits: { ephemeralContainersPerPod: 100, runsPerUserPerMinute: 10000, runsPerUser: 10000, pendingApprovalsPerUser: 10000, ephemeralContainersPerPodAndUser: 100, runsPerChannel: 10000 }
`;

const channelText = (id: string, namespace: string, batch: BenchPolicy['batch']): string =>
  `  ${id}: { rules: [{ id: look, clusters: [bench], namespaces: [${namespace}], classes: [observe, intrusive, elevated], profiles: [restricted, baseline, general]${batch ? `, batch: ${JSON.stringify(batch)}` : ''} }] }\n`;

/** Adds the bench's channels to a local Slack's workspace, with everyone of C0SHOP in them. */
export function addChannels(team: Team, channels: number): void {
  const shop = team.channels.C0SHOP;
  if (!shop) throw new Error('the local workspace has no C0SHOP');
  for (let index = 0; index < channels; index += 1) {
    const id = channelId(index);
    team.channels[id] = { ...shop, id, name: `bench-${index}` };
  }
}

export const PEOPLE = ['U0JONAS', 'U0THURSTON', 'U0GINGER', 'U0ROY', 'U0BOB', 'U0ALICE'] as const;
