import type { PodSecurityLevel } from '../core/container/pod.ts';

/** Looks at Slack as the bot. Every method throws `KdebugError` only. */
export interface SlackProbe {
  /** auth.test and bots.info. @throws KdebugError slack_token_rejected, slack_unreachable, slack_refused */
  identity(): Promise<SlackIdentity>;
  /** apps.connections.open with the app-level token; opens no socket. @throws as above */
  openSocket(appToken: string): Promise<void>;
  /** @throws KdebugError slack_channel_closed for a private channel without the bot, and as above */
  channel(channelId: string): Promise<SlackChannel>;
  /** The number of people in a user group. @throws KdebugError usergroup_unknown, and as above */
  groupSize(usergroupId: string): Promise<number>;
  /** @throws KdebugError person_unknown, and as above */
  person(userId: string): Promise<{ readonly isMember: boolean; readonly name: string }>;
  /** The proxy in use, without user and password. */
  readonly proxy: string | undefined;
  close(): Promise<void>;
}

export interface SlackIdentity {
  readonly team: string;
  readonly teamId: string;
  readonly user: string;
  readonly userId: string;
  readonly appId: string;
  readonly isOrgInstall: boolean;
  /** Undefined: a proxy removed the header. */
  readonly scopes: readonly string[] | undefined;
  readonly neededScopes: readonly {
    readonly scope: string;
    readonly neededFor: string;
    readonly isOptional: boolean;
  }[];
  /** This machine's clock minus Slack's, in milliseconds; undefined without a `Date`. Exact to a second. */
  readonly aheadMs: number | undefined;
  readonly tookMs: number;
}

export interface SlackChannel {
  readonly name: string;
  readonly isMember: boolean;
  readonly isShared: boolean;
  readonly isArchived: boolean;
}

/** Looks at Redis. @throws KdebugError store_unreachable, store_misconfigured */
export type RedisProbe = () => Promise<RedisFacts>;

export interface RedisFacts {
  readonly version: string;
  readonly oldest: string;
  readonly isOld: boolean;
  /** It may have CVE-2025-49844. */
  readonly hasLuaHole: boolean;
  readonly evictionPolicy: string;
  readonly isReplica: boolean;
  readonly isAppendOnly: boolean;
  /** The last write of the append-only file or snapshot failed. */
  readonly hasFailedWrite: boolean;
  readonly usedBytes: number;
  /** 0: no limit. */
  readonly maxBytes: number;
  /** The first command that Redis refuses, with its words. */
  readonly refused: { readonly command: string; readonly words: string } | undefined;
  /** The name of a user who may do more than kdebug needs; undefined for one with few rights. */
  readonly mightyUser: string | undefined;
  readonly tookMs: number;
}

/** Whose right is looked up: a person's (impersonated), a subject's, or (neither) the bot's own. */
export interface Who {
  readonly actingAs?: { readonly user: string; readonly groups: readonly string[]; readonly slackUser: string };
  readonly subject?: { readonly user: string; readonly groups: readonly string[] };
}

/** A right as in `kubectl auth can-i`; without a namespace: in all of them. */
export interface Right {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly group?: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** Looks at one cluster as the bot's own account. Every method throws `KdebugError` only, as the Cluster port says. */
export interface ClusterProbe {
  /** Host and port of the API server. */
  server(): Promise<string>;
  /** The version, and how long each of a few calls took. */
  version(): Promise<{ readonly version: string; readonly tookMs: readonly number[] }>;
  /** Our account, as the API server sees it; undefined if it is too old to say (before 1.28). */
  account(): Promise<string | undefined>;
  /** True if the API server has `patch pods/ephemeralcontainers`. */
  hasEphemeralContainers(): Promise<boolean>;
  may(right: Right): Promise<boolean>;
  /** The rights of a debug run that somebody lacks, as in a Role: `patch pods/ephemeralcontainers`. */
  missingFor(who: Who, namespace: string): Promise<readonly string[]>;
  /** All namespaces; undefined when the bot may not list them. */
  namespaces(): Promise<readonly string[] | undefined>;
  /** @throws KdebugError namespace_not_found */
  podSecurity(namespace: string): Promise<PodSecurityLevel>;
  /** The images of a namespace's containers, at most 500 pods, and those that its nodes report, where the bot may read nodes. */
  images(namespace: string): Promise<readonly SeenImage[]>;
  close(): Promise<void>;
}

export interface SeenImage {
  readonly image: string;
  /** With its digest, when it was pulled. */
  readonly imageId: string;
  /** The kubelet's words when it could not be pulled; empty otherwise. */
  readonly trouble: string;
}

/** Looks at this machine. */
export interface MachineProbe {
  /** Undefined: a program could listen there; else the code of the error. */
  portTrouble(port: number): Promise<string | undefined>;
  /** The lines of a kdebug that answers `GET /readyz?verbose` there; undefined: nothing like it. */
  readiness(port: number): Promise<readonly string[] | undefined>;
  /** Undefined if the folder can be written to; else the code of the error. */
  folderTrouble(path: string): Promise<string | undefined>;
  readonly scratch: string;
  freeBytes(path: string): Promise<number>;
}
