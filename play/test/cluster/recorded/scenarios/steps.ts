import type { Json, JsonObject } from '../json.ts';
import type { ApiStep, FinishStep, KubectlStep, Pod, StartStep, WaitStep } from '../scenario.ts';
import { isIn } from '../states.ts';

/** Words of a command line; what stands in single quotes is one word. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

export function kubectl(
  name: string,
  line: string,
  more: Partial<Pick<KubectlStep, 'view' | 'until' | 'stdin'>> = {},
): KubectlStep {
  return { kind: 'kubectl', name, words: wordsOf(line), view: 'text', ...more };
}

/** The events about a pod, once one of them says `until`. */
export const events = (name: string, pod: string, until: RegExp): KubectlStep =>
  kubectl(name, `get events --field-selector involvedObject.name=${pod} -o json`, { view: 'events', until });

/** The ephemeral containers of a pod and their states. */
export const shown = (name: string, pod: string, until?: RegExp): KubectlStep =>
  kubectl(
    name,
    `get pod ${pod} -o 'jsonpath={"{"}"spec":{.spec.ephemeralContainers},"status":{.status.ephemeralContainerStatuses}{"}"}'`,
    {
      view: 'json',
      ...(until ? { until } : {}),
    },
  );

export const api = (name: string, request: Omit<ApiStep, 'kind' | 'name'>): ApiStep => ({
  kind: 'api',
  name,
  ...request,
});

export const start = (name: string, more: Omit<StartStep, 'kind' | 'name'>): StartStep => ({
  kind: 'start',
  name,
  ...more,
});

export const finish = (name: string, when: RegExp): FinishStep => ({ kind: 'finish', name, when });

export const until = (pod: string, what: string, isSo: (pod: Pod) => boolean): WaitStep => ({
  kind: 'wait',
  pod,
  until: what,
  isSo,
});

export const running = (pod: string, container = 'app'): WaitStep =>
  until(pod, `${container} runs`, isIn(container, 'running'));

export const ended = (pod: string, container: string): WaitStep =>
  until(pod, `${container} has ended`, isIn(container, 'terminated'));

export const STRATEGIC = 'application/strategic-merge-patch+json';
export const MERGE = 'application/merge-patch+json';

/** A patch of the ephemeral containers. */
export function patch(
  name: string,
  pod: string,
  body: (pod: Pod) => Json | string,
  more: Partial<ApiStep> = {},
): ApiStep {
  const path = `/api/v1/namespaces/{ns}/pods/${pod}/ephemeralcontainers?fieldManager=recorded`;
  return { kind: 'api', name, method: 'PATCH', path, type: STRATEGIC, about: pod, body, ...more };
}

/** A patch that adds one container. */
export const launch = (name: string, pod: string, container: JsonObject): ApiStep =>
  patch(name, pod, () => ({ spec: { ephemeralContainers: [container] } }));

export const BUSYBOX = 'localhost/busybox:1';
export const DISTROLESS = 'localhost/distroless:1';

/** An ephemeral container that runs a line of shell. */
export const shell = (name: string, line: string, more: JsonObject = {}): JsonObject => ({
  name,
  image: BUSYBOX,
  command: ['sh', '-c', line],
  ...more,
});

/** A pod with one container `app`, by default a service that stays. */
export function pod(
  name: string,
  container: JsonObject = {},
  spec: JsonObject = {},
  metadata: JsonObject = {},
): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name }, ...metadata },
    spec: {
      // The recorded cluster has no name server; with one, `ClusterFirst` would bring no event.
      dnsPolicy: 'Default',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'app', image: DISTROLESS, ...container }],
      ...spec,
    },
  };
}
