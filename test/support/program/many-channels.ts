import type { Team } from '../../../play/slack/index.ts';

/** Ids of so many channels: Slack takes one post a second in each. */
export const manyChannels = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `C0TEAM${index}`);

/** Whoever is in one of the channels may run any command in the namespace `shop`, as often as they like. */
export const policyOfChannels = (channels: readonly string[]): string => `version: 1
clusters:
  test: { context: local, default: true }
identity: { mode: serviceAccount }
images:
  debian: { image: "debian:12-slim", class: observe, command: allowed }
defaultImage: debian
channels:
${channels.map((id) => `  ${id}: { rules: [{ id: look, clusters: [test], namespaces: [shop], classes: [observe, intrusive, elevated], profiles: [general] }] }`).join('\n')}
limits: { startDeadline: 60s, runsPerUserPerMinute: 1000, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

/** Adds the channels to a workspace, with the members of #shop-oncall. */
export const withChannels =
  (channels: readonly string[]) =>
  (team: Team): void => {
    const shop = team.channels.C0SHOP;
    for (const id of channels) if (shop) team.channels[id] = { ...shop, id, name: id.toLowerCase() };
  };
