import { ALERTS_SECRET_ENV } from './bed.ts';
import { PRIVATE, WITHOUT_BOT } from './team.ts';

const SHOP = 'C0SHOP';

/** Where the catalogue's images are on the cluster at hand. */
export interface PlayImages {
  readonly autodiagnose: string;
  readonly stacks: string;
  readonly profile: string;
  readonly net: string;
  readonly blackbox: string;
  readonly debian: string;
  readonly debugger: string;
  readonly securityAudit: string;
}

const LOCAL_IMAGES: PlayImages = {
  autodiagnose: 'registry.example.com/kdebug/autodiagnose:0.3.0',
  stacks: 'registry.example.com/kdebug/stacks:0.1.0',
  profile: 'registry.example.com/kdebug/profile:0.1.0',
  net: 'registry.example.com/kdebug/net:0.1.0',
  blackbox: 'registry.example.com/kdebug/blackbox:0.1.0',
  debian: 'debian:12-slim',
  debugger: 'registry.example.com/debugger:1.4',
  securityAudit: 'registry.example.com/security-audit:1',
};

const RULES = `    rules:
      - id: look
        clusters: [play]
        namespaces: [shop, backoffice, vault, default]
        classes: [observe]
        profiles: [restricted, baseline, general]
        batch: { maxPods: 50, maxParallelism: 10 }
        targetLog: errors
      # Free commands may change a workload, so they are intrusive. This channel may all the same: it is the team's own shop.
      - id: hands-on
        clusters: [play]
        namespaces: [shop, backoffice, vault, default]
        classes: [intrusive]
        profiles: [restricted, baseline, general]
        traces: true
        batch: { maxPods: 50, maxParallelism: 10 }
      - id: attach
        clusters: [play]
        namespaces: [shop]
        classes: [elevated]
        profiles: [sysadmin]
        approval: { from: [sre], count: 1, expires: 15m, reason: required, grants: allowed }`;

const CHANNELS = { [SHOP]: 'shop-oncall', [WITHOUT_BOT]: 'payments', [PRIVATE]: 'vault-incident' };

/** The name under `alerts:`. */
export const ALERT_SOURCE = 'play';

/** The policy of play: three channels that may look, and must ask for more. */
export const playPolicy = (context: string, images: PlayImages = LOCAL_IMAGES): string => `version: 1
clusters:
  play: { context: ${JSON.stringify(context)}, default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images:
  autodiagnose: { image: ${JSON.stringify(images.autodiagnose)}, class: observe, timeout: 1m, diagnostic: true, description: 'Finds out why a pod is slow, restarting or unreachable.' }
  stacks: { image: ${JSON.stringify(images.stacks)}, class: intrusive, timeout: 2m, diagnostic: true, files: [text, profile], settings: [STACKS_SECONDS, STACKS_HISTOGRAM], description: 'Shows what every thread is doing, and who waits for whom.' }
  profile: { image: ${JSON.stringify(images.profile)}, class: intrusive, timeout: 3m, diagnostic: true, files: [text, profile], settings: [PROFILE_SECONDS], description: 'Where the CPU time goes, as a flame graph.' }
  net: { image: ${JSON.stringify(images.net)}, class: observe, timeout: 2m, diagnostic: true, files: [text], settings: [NET_ENDPOINT], description: 'Tries the names, connections and certificates that the pod needs.' }
  blackbox: { image: ${JSON.stringify(images.blackbox)}, class: intrusive, traces: true, timeout: 30m, diagnostic: true, files: [text, profile], settings: [BLACKBOX_FOR, BLACKBOX_PID, BLACKBOX_WHEN, BLACKBOX_THEN, BLACKBOX_SHOTS], description: 'Waits for the end of a process, and says how it died.' }
  debian: { image: ${JSON.stringify(images.debian)}, class: observe, command: allowed }
  debugger: { image: ${JSON.stringify(images.debugger)}, class: elevated, command: allowed, description: 'gdb and strace, to look inside a running process.' }
  security-audit: { image: ${JSON.stringify(images.securityAudit)}, class: observe, command: allowed }
defaultImage: autodiagnose
# A second look at the same pod waits for a minute, not for the hour of the default: somebody wants to see it again.
alerts:
  ${ALERT_SOURCE}: { source: alertmanager, secretEnv: ${ALERTS_SECRET_ENV}, channel: ${SHOP}, match: { severity: [critical] }, cooldown: 1m }
# Shorter than the default, so that a node that is away is told while one still looks.
limits: { startDeadline: 30s, runsPerUserPerMinute: 20, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
channels:
${Object.entries(CHANNELS)
  .map(([id, name]) => `  ${id}:\n    name: "#${name}"\n${RULES}\n`)
  .join('')}`;
