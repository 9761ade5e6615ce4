import { own } from '../../lib/object.ts';
import { PROFILES, type Profile } from '../container/profiles.ts';
import { type ImageAlias, type Policy, type Rule, worseClass } from './policy.ts';
import { matchesNamespace } from './resolve.ts';

/** What the rules of a channel name, so what somebody there may choose from. Each request is decided on its own. */
export interface ChannelOffer {
  readonly clusters: readonly string[];
  /** Names, and prefixes ending in `*`, of the cluster. */
  readonly namespaces: readonly string[];
  /** Images whose class a rule for the namespace has. */
  readonly images: readonly ImageAlias[];
  readonly profiles: readonly Profile[];
}

/** For one cluster and namespace; where one is not given, for all that the rules name. */
export function channelOffer(
  policy: Policy,
  channelId: string,
  { cluster, namespace }: { readonly cluster?: string; readonly namespace?: string },
): ChannelOffer {
  const rules = own(policy.channels, channelId)?.rules ?? [];
  const ofCluster = rules.filter(({ clusters }) => cluster === undefined || clusters.includes(cluster));
  const here = ofCluster.filter((rule) => namespace === undefined || covers(rule, namespace));
  return {
    clusters: [...new Set(rules.flatMap(({ clusters }) => clusters))],
    namespaces: [...new Set(ofCluster.flatMap(({ namespaces }) => namespaces))],
    images: Object.values(policy.images).filter((image) => here.some((rule) => mayRun(rule, image))),
    profiles: PROFILES.filter((profile) => here.some(({ profiles }) => profiles.includes(profile))),
  };
}

const covers = ({ namespaces }: Rule, namespace: string): boolean =>
  namespaces.some((pattern) => matchesNamespace(pattern, namespace));

/** Whether the rule has the image's class or a worse one: a launch may raise its class, never lower it. */
const mayRun = ({ classes }: Rule, image: ImageAlias): boolean =>
  classes.some((one) => worseClass(one, image.class) === one);
