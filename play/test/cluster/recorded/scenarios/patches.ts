import { at } from '../json.ts';
import type { Scenario } from '../scenario.ts';
import { api, BUSYBOX, ended, launch, MERGE, patch, pod, running, STRATEGIC, shell, until } from './steps.ts';

const NEVER = '00000000-0000-4000-8000-000000000000';
const uidOf = (seen: unknown) => String(at(seen, 'metadata', 'uid'));
const adding = (...ephemeralContainers: readonly object[]) => JSON.stringify({ spec: { ephemeralContainers } });

/** The table "API server, PATCH" of the reference, and more of what a client may do wrong. */
const answers: Scenario = {
  name: 'patch',
  pods: [pod('web')],
  steps: [
    running('web'),
    patch('uid of another pod', 'web', () => ({
      metadata: { uid: NEVER },
      spec: { ephemeralContainers: [shell('a', 'true')] },
    })),
    patch('right uid, new name', 'web', (seen) => ({
      metadata: { uid: uidOf(seen) },
      spec: { ephemeralContainers: [shell('once', 'sleep 300')] },
    })),
    running('web', 'once'),
    patch('the identical entry again', 'web', (seen) => ({
      metadata: { uid: uidOf(seen) },
      spec: { ephemeralContainers: [shell('once', 'sleep 300')] },
    })),
    patch('same name, another image', 'web', () => adding(shell('once', 'sleep 300', { image: 'localhost/other:1' }))),
    patch('same name, another command', 'web', () => adding(shell('once', 'sleep 301'))),
    patch('same name, one more variable', 'web', () =>
      adding(shell('once', 'sleep 300', { env: [{ name: 'A', value: 'b' }] })),
    ),
    patch('removed by a merge patch', 'web', () => ({ spec: { ephemeralContainers: [] } }), { type: MERGE }),
    patch('removed by a directive', 'web', () => adding({ $patch: 'delete', name: 'once' })),
    patch('no such pod', 'gone', () => adding(shell('a', 'true'))),
    patch('unknown target', 'web', () => adding(shell('a', 'true', { targetContainerName: 'nobody' }))),
    patch('outdated version', 'web', () => ({
      metadata: { resourceVersion: '1' },
      spec: { ephemeralContainers: [shell('a', 'true')] },
    })),
    patch('dry run', 'web', () => adding(shell('dry', 'true')), dryRun('All')),
    patch('dry run of another kind', 'web', () => adding(shell('dry', 'true')), dryRun('Some')),
    api('not there after the dry run', { method: 'GET', path: '/api/v1/namespaces/{ns}/pods/web' }),
    patch('another container type', 'web', () => adding(shell('a', 'true')), { type: 'application/json' }),
    patch('no JSON', 'web', () => '{"spec":'),
    patch('a number for a name', 'web', () => adding({ name: 7, image: BUSYBOX })),
    patch('an unknown field, strictly', 'web', () => adding(shell('a', 'true', { colour: 'red' })), strictly('Strict')),
    patch('an unknown field, with a warning', 'web', () => adding(shell('a', 'true', { colour: 'red' })), {
      path: `${strictly('Warn').path}&dryRun=All`,
    }),
  ],
};

function dryRun(value: string) {
  return { path: `/api/v1/namespaces/{ns}/pods/web/ephemeralcontainers?fieldManager=recorded&dryRun=${value}` };
}

function strictly(value: string) {
  return {
    path: `/api/v1/namespaces/{ns}/pods/web/ephemeralcontainers?fieldManager=recorded&fieldValidation=${value}`,
  };
}

const PROBE = { httpGet: { path: '/', port: 80 } };
const refused = (name: string, more: Parameters<typeof shell>[2]) =>
  patch(name, 'web', () => adding(shell('a', 'true', more)));

/** What validation has against one entry, field by field. */
const fields: Scenario = {
  name: 'fields',
  pods: [pod('web')],
  steps: [
    refused('ports', { ports: [{ containerPort: 80 }] }),
    refused('resources', { resources: { limits: { cpu: '1' } } }),
    refused('liveness probe', { livenessProbe: PROBE }),
    refused('readiness probe', { readinessProbe: PROBE }),
    refused('startup probe', { startupProbe: PROBE }),
    refused('lifecycle', { lifecycle: { preStop: { exec: { command: ['true'] } } } }),
    refused('ports and a probe', { ports: [{ containerPort: 80 }], readinessProbe: PROBE }),
    refused('a volume that is not there', { volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
    refused('a name in capitals', { name: 'Upper' }),
    refused('a name that is too long', { name: 'long-name-'.repeat(7) }),
    refused('no name', { name: '' }),
    refused('the name of a container', { name: 'app' }),
    refused('no image', { image: '' }),
    refused('a pull policy of ours', { imagePullPolicy: 'Sometimes' }),
    refused('a message policy of ours', { terminationMessagePolicy: 'Maybe' }),
    refused('a variable without a name', { env: [{ name: '', value: 'x' }] }),
    refused('a variable with =', { env: [{ name: 'a=b', value: 'x' }] }),
    refused('a user below zero', { securityContext: { runAsUser: -1 } }),
    refused('privileged without escalation', {
      securityContext: { privileged: true, allowPrivilegeEscalation: false },
    }),
    patch('two at once, one bad', 'web', () =>
      adding(shell('first', 'true'), shell('b', 'true', { targetContainerName: 'nobody' })),
    ),
    refused('restart policy', { name: 'again', restartPolicy: 'Always' }),
    ended('web', 'again'),
    refused('no message path', { name: 'path', terminationMessagePath: '' }),
    ended('web', 'path'),
    patch('twice the same name', 'web', () => adding(shell('a', 'true'), shell('a', 'false'))),
  ],
};

/** Pods that are in no state for it. */
const states: Scenario = {
  name: 'states',
  pods: [
    pod('done', { image: BUSYBOX, command: ['sh', '-c', 'echo done'] }, { restartPolicy: 'Never' }),
    pod('mirror', {}, { nodeName: 'nowhere' }, { annotations: { 'kubernetes.io/config.mirror': 'static' } }),
    pod('unscheduled', {}, { nodeSelector: { no: 'where' } }),
    pod(
      'two',
      {},
      {
        containers: [
          { name: 'app', image: 'localhost/distroless:1' },
          { name: 'side', image: BUSYBOX, command: ['sleep', '300'] },
        ],
      },
    ),
  ],
  steps: [
    until('done', 'over', (seen) => at(seen, 'status', 'phase') === 'Succeeded'),
    launch('into a pod that is over', 'done', shell('late', 'true')),
    launch('into a static pod', 'mirror', shell('a', 'true')),
    launch('into a pod without a node', 'unscheduled', shell('early', 'true')),
    running('two', 'side'),
    launch('into a pod of two', 'two', shell('a', 'true', { targetContainerName: 'side' })),
    ended('two', 'a'),
    api('the pod of two', { method: 'GET', path: '/api/v1/namespaces/{ns}/pods/two' }),
    api('the pod that is over', { method: 'GET', path: '/api/v1/namespaces/{ns}/pods/done' }),
    api('the pod without a node', { method: 'GET', path: '/api/v1/namespaces/{ns}/pods/unscheduled' }),
    api('no such pod', { method: 'GET', path: '/api/v1/namespaces/{ns}/pods/none' }),
    api('no such kind', { method: 'GET', path: '/api/v1/namespaces/{ns}/pads/none' }),
    api('labels by a patch', {
      method: 'PATCH',
      path: '/api/v1/namespaces/{ns}/pods/two',
      type: STRATEGIC,
      body: () => ({ metadata: { labels: { colour: 'red' } } }),
    }),
    api('a command by a patch', {
      method: 'PATCH',
      path: '/api/v1/namespaces/{ns}/pods/two',
      type: STRATEGIC,
      body: () => ({ spec: { containers: [{ name: 'app', command: ['x'] }] } }),
    }),
  ],
};

export const PATCHES: readonly Scenario[] = [answers, fields, states];
