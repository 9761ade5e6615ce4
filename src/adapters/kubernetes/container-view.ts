import { fingerprintOf } from '../../core/container/fingerprint.ts';
import { ONCE_MORE_VARIABLE } from '../../core/container/once-more.ts';
import type {
  ContainerSecurityContext,
  PodContainer,
  PodEphemeralContainer,
  PodSecurityContext,
  Probe,
} from '../../core/container/pod.ts';
import { PROBE_KINDS } from '../../core/container/pod.ts';
import { defined, isObject } from '../../lib/object.ts';
import { asFlag, asNumber, asObject, asObjects, asText, type JsonObject, textOrUndefined } from './api/json-fields.ts';

/** Before the name of a container: how pods name an AppArmor profile before Kubernetes 1.30. */
const APP_ARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';
const RUN_VARIABLE = 'KDEBUG_RUN';
const STOPS_VARIABLE = 'KDEBUG_STOPS';
const REQUESTER_VARIABLE = 'KDEBUG_REQUESTER';
const REF_VARIABLE = 'KDEBUG_REF';
const NOT_AFTER_VARIABLE = 'KDEBUG_NOT_AFTER';
/** The pod's statements about its containers. */
export interface OfPod {
  /** Volumes that reach beyond the pod: name and kind. */
  readonly shared: ReadonlyMap<string, string>;
  readonly annotations: Readonly<Record<string, string>>;
}

function viewAnyContainer(container: JsonObject, { shared, annotations }: OfPod) {
  const name = asText(container.name);
  const sharedVolumes =
    shared.size === 0
      ? []
      : [...asObjects(container.volumeMounts), ...asObjects(container.volumeDevices)].flatMap((mount) => {
          const volume = asText(mount.name);
          const kind = shared.get(volume);
          return kind === undefined ? [] : [{ name: volume, kind }];
        });
  return {
    name,
    image: asText(container.image),
    securityContext: {
      ...defined({ appArmor: annotatedAppArmor(annotations[`${APP_ARMOR_ANNOTATION}${name}`]) }),
      // The kubelet, too, prefers the field.
      ...viewSecurityContext(asObject(container.securityContext)),
    },
    ...defined({ sharedVolumes: sharedVolumes.length > 0 ? sharedVolumes : undefined }),
  };
}

export function viewEphemeral(container: JsonObject, ofPod: OfPod): PodEphemeralContainer {
  const env = asObjects(container.env);
  const variable = (wanted: string) => env.find(({ name }) => name === wanted)?.value;
  const targetContainerName = textOrUndefined(container.targetContainerName);
  const runId = textOrUndefined(variable(RUN_VARIABLE));
  const requesterId = textOrUndefined(variable(REQUESTER_VARIABLE));
  const isKdebugs = runId !== undefined || variable(STOPS_VARIABLE) !== undefined;
  const ref = textOrUndefined(variable(REF_VARIABLE));
  const notAfterMs = Date.parse(asText(variable(NOT_AFTER_VARIABLE)));
  const { securityContext, ...any } = viewAnyContainer(container, ofPod);
  return {
    ...any,
    ...defined({
      securityContext: Object.keys(securityContext).length > 0 ? securityContext : undefined,
      targetContainerName,
      runId,
      fingerprint: isKdebugs ? fingerprintOf(container) : undefined,
      requesterId,
      ref,
      notAfterMs: Number.isFinite(notAfterMs) ? notAfterMs : undefined,
      copyOf: textOrUndefined(variable(ONCE_MORE_VARIABLE)),
    }),
  };
}

export function viewContainer(container: JsonObject, ofPod: OfPod): PodContainer {
  const restartPolicy = textOrUndefined(container.restartPolicy);
  const resources = asObject(container.resources);
  const [limits, requests] = [asObject(resources.limits), asObject(resources.requests)];
  const memoryLimit = textOrUndefined(limits.memory);
  const cpuLimit = textOrUndefined(limits.cpu);
  const memoryRequest = textOrUndefined(requests.memory);
  const cpuRequest = textOrUndefined(requests.cpu);
  const hasRequests = requests.memory !== undefined && requests.cpu !== undefined;
  return {
    ...viewAnyContainer(container, ofPod),
    ...defined({
      hasOwnCommand: hasWords(container.command, container.args) || undefined,
      hasReadOnlyTmp: hasReadOnlyTmp(container) || undefined,
      disablesAttach: disablesAttach(container) || undefined,
      ports: portsOf(container),
      portNames: portNamesOf(container),
      probes: probesOf(container),
      memoryLimit,
      cpuLimit,
      memoryRequest,
      cpuRequest,
      hasRequests: hasRequests || undefined,
      restartPolicy,
    }),
  };
}

const hasReadOnlyTmp = (container: JsonObject): boolean =>
  asObject(container.securityContext).readOnlyRootFilesystem === true &&
  !asObjects(container.volumeMounts).some(
    ({ mountPath, readOnly }) => /^\/tmp\/*$/.test(asText(mountPath)) && readOnly !== true,
  );

/** The JVM's own flag, also when a shell passes it on. Values from a ConfigMap or a Secret are not in the spec. */
const disablesAttach = ({ command, args, env }: JsonObject): boolean =>
  [command, args, asObjects(env).map(({ value }) => value)]
    .flatMap((words: unknown) => (Array.isArray(words) ? words : []))
    .some((word) => typeof word === 'string' && word.includes('-XX:+DisableAttachMechanism'));

const hasWords = (...lists: readonly unknown[]): boolean =>
  lists.some((list) => Array.isArray(list) && list.length > 0);

function portsOf(container: JsonObject): PodContainer['ports'] {
  const ports = asObjects(container.ports).flatMap(({ containerPort }) => asNumber(containerPort) ?? []);
  return ports.length > 0 ? ports : undefined;
}

function portNamesOf(container: JsonObject): PodContainer['portNames'] {
  const names = asObjects(container.ports).flatMap(({ name }) => textOrUndefined(name) ?? []);
  return names.length > 0 ? names : undefined;
}

function probesOf(container: JsonObject): PodContainer['probes'] {
  const probes = PROBE_KINDS.flatMap((kind) => {
    const probe = viewProbe(asObject(container[`${kind}Probe`]));
    return probe === undefined ? [] : [[kind, probe] as const];
  });
  return probes.length > 0 ? Object.fromEntries(probes) : undefined;
}

/** The API's defaults are left out. */
const PROBE_NUMBERS = {
  timeoutSeconds: 1,
  periodSeconds: 10,
  initialDelaySeconds: 0,
  failureThreshold: 3,
} as const;
const COMMAND_LENGTH = 200;

function viewProbe(probe: JsonObject): Probe | undefined {
  const by = PROBE_WAYS.find((way) => isObject(probe[FIELD_OF_WAY[way]]));
  if (by === undefined) return undefined;
  const { port, path, command } = asObject(probe[FIELD_OF_WAY[by]]);
  const numbers = Object.entries(PROBE_NUMBERS).flatMap(([name, usual]) => {
    const value = asNumber(probe[name]);
    return value === undefined || value === usual ? [] : [[name, value] as const];
  });
  return {
    by,
    ...defined({
      port: asNumber(port) ?? textOrUndefined(port),
      path: textOrUndefined(path),
      command: Array.isArray(command) ? command.map(asText).join(' ').slice(0, COMMAND_LENGTH) : undefined,
    }),
    ...Object.fromEntries(numbers),
  };
}

const PROBE_WAYS = ['http', 'tcp', 'grpc', 'exec'] as const satisfies readonly Probe['by'][];
const FIELD_OF_WAY = { http: 'httpGet', tcp: 'tcpSocket', grpc: 'grpc', exec: 'exec' } as const;

function viewSecurityContext(context: JsonObject): ContainerSecurityContext {
  const added = asObject(context.capabilities).add;
  const capabilities = Array.isArray(added) ? added.map(asText) : [];
  return {
    ...viewPodSecurity(context),
    ...defined({
      privileged: context.privileged === true || undefined,
      capabilities: capabilities.length > 0 ? capabilities : undefined,
      unmaskedProc: context.procMount === 'Unmasked' || undefined,
    }),
  };
}

export function viewPodSecurity(context: JsonObject): PodSecurityContext {
  const runAsNonRoot = asFlag(context.runAsNonRoot);
  const runAsUser = asNumber(context.runAsUser);
  const runAsGroup = asNumber(context.runAsGroup);
  const { type, user, role } = asObject(context.seLinuxOptions);
  const seLinux = defined({ type: textOrUndefined(type), user: textOrUndefined(user), role: textOrUndefined(role) });
  return defined({
    runAsNonRoot,
    runAsUser,
    runAsGroup,
    seLinux: isObject(context.seLinuxOptions) ? seLinux : undefined,
    appArmor: textOrUndefined(asObject(context.appArmorProfile).type),
    seccomp: textOrUndefined(asObject(context.seccompProfile).type),
  });
}

/** The value of the annotation as the type of the field; unknown values as the one that confines least. */
function annotatedAppArmor(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value.startsWith('localhost/')) return 'Localhost';
  return value === 'runtime/default' ? 'RuntimeDefault' : 'Unconfined';
}
