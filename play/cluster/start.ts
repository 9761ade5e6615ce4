import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Authorizer } from './api/authorizer.ts';
import { makeCertificates } from './api/certificates.ts';
import { Faults } from './api/faults.ts';
import { Tokens } from './api/identity.ts';
import { RequestLog } from './api/request-log.ts';
import { ApiServer } from './api/server.ts';
import { systemClock } from './clock.ts';
import { Kubelet } from './kubelet/kubelet.ts';
import { timingOf } from './kubelet/timing.ts';
import { LocalCluster, NODE } from './local-cluster.ts';
import { ContainerLog } from './log/container-log.ts';
import { Rotation } from './log/rotation.ts';
import { bootstrapRoles } from './objects/bootstrap-roles.ts';
import { Events } from './objects/events.ts';
import { Places } from './objects/places.ts';
import { rfc3339 } from './objects/pod.ts';
import { PodStore } from './objects/pod-store.ts';
import { RbacStore } from './objects/rbac-store.ts';
import { ResourceVersions } from './objects/resource-versions.ts';
import type { LocalClusterOptions } from './options.ts';
import { Images } from './programs/images.ts';
import { reviewHandlers } from './resources/access-reviews.ts';
import { ephemeralHandlers } from './resources/ephemeral-containers.ts';
import { logHandlers } from './resources/logs.ts';
import { placeHandlers } from './resources/namespaces.ts';
import { podHandlers } from './resources/pods.ts';
import { rbacHandlers } from './resources/rbac.ts';
import { selfReviewHandlers } from './resources/self-reviews.ts';
import { Watches } from './resources/watch.ts';
import { Webhooks } from './resources/webhooks.ts';
import { ObjectStore } from './stored/object-store.ts';
import { storedHandlers } from './stored/stored.ts';
import type { World } from './world.ts';

const MAX_EVENTS = 20_000;

/** Starts a local cluster with one node and the namespace `default`; it listens on loopback only. */
export async function startLocalCluster(options: LocalClusterOptions = {}): Promise<LocalCluster> {
  const clock = options.clock ?? systemClock;
  const versions = new ResourceVersions();
  const pods = new PodStore(versions, options.historyLength ?? 8192);
  const world: World = {
    clock,
    pods,
    places: new Places(clock, versions),
    events: new Events(clock, versions, MAX_EVENTS),
    rbac: new RbacStore(versions),
    webhooks: new Webhooks(),
    objects: new ObjectStore(clock, versions),
  };
  for (const each of bootstrapRoles(rfc3339(clock.now()), randomUUID)) world.rbac.put(each);
  world.places.addNamespace('default');
  world.places.setNode(NODE, true);
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-cluster-'));
  const rotation = new Rotation(clock, options.logRotation?.periodMs ?? 10_000);
  const images = new Images();
  const makeLog = () =>
    newLog({ clock, directory, rotation, maxBytes: options.logRotation?.maxBytes ?? 10 * 1024 * 1024 });
  const kubelet = new Kubelet({
    world,
    images,
    timing: timingOf(options.kubeletDelayMs ?? 1000),
    nodeName: NODE,
    phase: options.relistPhase ?? Math.random(),
    reportsUsers: options.reportsUsers ?? true,
    makeLog,
  });
  const control = controlPlane(options, world.rbac);
  const watches = new Watches();
  const certificates = await makeCertificates();
  const handlers = new Map([
    ...podHandlers(world, kubelet),
    ...ephemeralHandlers(world, kubelet, options.servesEphemeralContainers ?? true),
    ...watches.handlers(world, options.bookmarkMs ?? 60_000),
    ...logHandlers(world, kubelet, options.logBytesPerSecond),
    ...placeHandlers(world),
    ...reviewHandlers(control.authorizer),
    ...selfReviewHandlers(world),
    ...rbacHandlers(world),
    ...storedHandlers(world),
  ]);
  const server = new ApiServer({ certificates, ...control, handlers });
  const url = await server.listen(options.port ?? 0);
  const shared = { images, rotation, world, kubelet, server, directory, watches, makeLog };
  return new LocalCluster({ url, caPem: certificates.caPem, ...control, ...shared });
}

function controlPlane(options: LocalClusterOptions, rbac: RbacStore) {
  const adminToken = randomBytes(16).toString('hex');
  const tokens = new Tokens();
  tokens.set(adminToken, 'admin', ['system:masters']);
  return {
    adminToken,
    tokens,
    authorizer: new Authorizer(rbac, options.rules ?? []),
    faults: new Faults(),
    requests: new RequestLog(options.requestLogLength ?? 10_000),
  };
}

interface LogPlace {
  readonly clock: { now(): number };
  readonly directory: string;
  readonly rotation: Rotation;
  readonly maxBytes: number;
}

function newLog({ clock, directory, rotation, maxBytes }: LogPlace): ContainerLog {
  return new ContainerLog({
    now: () => clock.now(),
    newPath: () => join(directory, `${randomUUID()}.log`),
    onOverflow: (log) => rotation.add(log),
    maxBytes,
  });
}
