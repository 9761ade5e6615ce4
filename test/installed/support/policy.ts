import { parse, stringify } from 'yaml';

/** One of the four usual installations, by one of the two tools. */
export interface Way {
  readonly tool: 'kustomize' | 'helm';
  readonly name: 'socket' | 'http' | 'several' | 'impersonate';
}

/** A policy file for a bot in a pod. */
export interface InstalledPolicy {
  readonly text: string;
  /** Those that its rules name. */
  readonly namespaces: readonly string[];
}

interface PolicyFile {
  clusters: Record<string, unknown>;
  identity: unknown;
  images: Record<string, { image: string }>;
  channels: Record<string, { rules: readonly { namespaces: readonly string[] }[] }>;
}

const BUILT_AUTODIAGNOSE = 'kdebug-autodiagnose:0.3.0';

/** The policy of an end-to-end test for the cluster that the bot's pod is in, with the image that was built for it. */
export function installedPolicy(text: string, name: Way['name']): InstalledPolicy {
  const file = parse(text) as PolicyFile;
  const clusters = Object.fromEntries(
    Object.keys(file.clusters).map((each, at) => [each, { inCluster: true, default: at === 0 }]),
  );
  const identity =
    name === 'impersonate' ? { mode: 'impersonate', user: 'slack:{userId}' } : { mode: 'serviceAccount' };
  if (file.images.autodiagnose) file.images.autodiagnose.image = BUILT_AUTODIAGNOSE;
  const rules = Object.values(file.channels).flatMap((channel) => channel.rules);
  const namespaces = [...new Set(rules.flatMap((rule) => rule.namespaces))];
  return { text: stringify({ ...file, clusters, identity }), namespaces };
}
