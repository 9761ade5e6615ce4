import type { JsonObject } from '../json.ts';
import type { Scenario } from '../scenario.ts';
import { BUSYBOX, DISTROLESS, ended, events, kubectl, launch, pod, running, shell, shown } from './steps.ts';

const PROFILES = ['general', 'baseline', 'restricted', 'netadmin', 'sysadmin'];

/** `kubectl debug` with each profile: what it says, what it makes. */
const debug: Scenario = {
  name: 'debug',
  pods: [...PROFILES, 'plain', 'target'].map((name) => pod(name)),
  steps: [
    running('target'),
    ...PROFILES.flatMap((profile) => [
      running(profile),
      kubectl(`profile ${profile}`, `debug ${profile} -c a --image=${BUSYBOX} --profile=${profile} -- sh -c 'sleep 2'`),
      shownSpec(`made by ${profile}`, profile),
    ]),
    running('plain'),
    kubectl('no profile, no name', `debug plain --image=${BUSYBOX} -- true`),
    kubectl(
      'with a target',
      `debug target -c a --image=${BUSYBOX} --profile=general --target=app -- sh -c 'sleep 1; exit 3'`,
    ),
    kubectl(
      'until its exit code',
      `wait pod/target '--for=jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}=3' --timeout=30s`,
    ),
    shown('the container with a target', 'target'),
    kubectl(
      'with variables and arguments',
      `debug target -c b --image=${BUSYBOX} --profile=general --env=A=b --arguments-only -- sleep 1`,
    ),
    ended('target', 'b'),
    shown('the container with variables', 'target'),
    kubectl('no such target', `debug target -c c --image=${BUSYBOX} --profile=general --target=nobody -- true`),
    kubectl('the same name again', `debug target -c a --image=${BUSYBOX} --profile=general -- false`),
    kubectl('a bad name', `debug target -c A_b --image=${BUSYBOX} --profile=general -- true`),
    kubectl('no such pod', `debug nobody --image=${BUSYBOX} --profile=general -- true`),
    kubectl('no such profile', `debug target --image=${BUSYBOX} --profile=all -- true`),
    kubectl('not allowed', `debug target --as=roy --image=${BUSYBOX} --profile=general -- true`),
  ],
};

function shownSpec(name: string, of: string) {
  return kubectl(name, `get pod ${of} -o 'jsonpath={.spec.ephemeralContainers}'`, { view: 'json' });
}

const LIMITS: JsonObject = { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '50m', memory: '32Mi' } };

/** `kubectl describe`, `get events`, `get -o wide` of pods with debug containers in several states. */
const describe: Scenario = {
  name: 'describe',
  pods: [
    pod('web', { resources: LIMITS, env: [{ name: 'COLOUR', value: 'red' }], ports: [{ containerPort: 8080 }] }),
    pod('crash', { image: BUSYBOX, command: ['sh', '-c', 'exit 7'] }),
  ],
  steps: [
    running('web'),
    kubectl('before', 'describe pod web', { view: 'description', until: /Started/ }),
    launch('one that ends', 'web', shell('done', 'exit 3', { targetContainerName: 'app' })),
    ended('web', 'done'),
    launch(
      'one that runs',
      'web',
      shell('runs', 'sleep 300', { securityContext: { capabilities: { add: ['SYS_PTRACE'] } } }),
    ),
    running('web', 'runs'),
    launch('one that cannot start', 'web', shell('cannot', 'true', { securityContext: { runAsNonRoot: true } })),
    kubectl('with three', 'describe pod web', {
      view: 'description',
      until: /CreateContainerConfigError[\s\S]*Error: container has/,
    }),
    kubectl('events as a table', 'get events --field-selector involvedObject.name=web', { view: 'sorted-lines' }),
    events('events as JSON', 'web', /Created/),
    kubectl(
      'events sorted by time',
      `get events --field-selector involvedObject.name=web --sort-by=.metadata.creationTimestamp -o 'custom-columns=TYPE:.type,OBJECT:.involvedObject.kind'`,
      { view: 'sorted-lines' },
    ),
    kubectl('events of a pod', 'events --for=pod/web', { view: 'sorted-lines' }),
    kubectl('events that warn', 'get events --field-selector involvedObject.name=web,type=Warning', {
      view: 'sorted-lines',
    }),
    kubectl('wide', 'get pod web -o wide'),
    kubectl('by label', 'get pods -l app=web --show-labels'),
    kubectl('by label, none', 'get pods -l app=none'),
    kubectl('names', 'get pods -o name'),
    kubectl('whole', 'get pod web -o json', { view: 'json' }),
    kubectl('the crashing one', 'describe pod crash', {
      view: 'description',
      until: /\bState: +Waiting[\s\S]*Back-off restarting/,
    }),
    kubectl('no such pod', 'describe pod none'),
  ],
};

/** `kubectl logs` with its options, and its errors. */
const logs: Scenario = {
  name: 'logs',
  pods: [
    pod('web', { image: BUSYBOX, command: ['sh', '-c', 'echo started; sleep 300'] }),
    pod(
      'two',
      {},
      {
        containers: [
          { name: 'app', image: BUSYBOX, command: ['sh', '-c', 'echo one; sleep 300'] },
          { name: 'side', image: BUSYBOX, command: ['sh', '-c', 'echo two; sleep 300'] },
        ],
      },
    ),
    pod('again', { image: BUSYBOX, command: ['sh', '-c', 'echo life; sleep 1; exit 1'] }),
  ],
  steps: [
    running('web'),
    running('two', 'side'),
    launch('a talker', 'web', shell('talker', 'echo a; echo b; sleep 2; echo c; sleep 1; exit 5')),
    running('web', 'talker'),
    kubectl('follow with stamps', 'logs -f --timestamps web -c talker'),
    ended('web', 'talker'),
    kubectl('after the end', 'logs web -c talker'),
    kubectl('the last line', 'logs --tail=1 web -c talker'),
    kubectl('no line', 'logs --tail=0 web -c talker'),
    kubectl('a few bytes', 'logs --limit-bytes=3 web -c talker'),
    kubectl('since', 'logs --since=1h web -c talker'),
    kubectl('since a time to come', 'logs --since-time=2100-01-01T00:00:00Z web -c talker'),
    kubectl('prefixed', 'logs --prefix web -c talker'),
    kubectl('all containers', 'logs --all-containers web', { view: 'sorted-lines' }),
    kubectl('the default container', 'logs web'),
    kubectl('the default of two', 'logs two'),
    kubectl('by label', 'logs -l app=two --all-containers --prefix', { view: 'sorted-lines' }),
    kubectl('no such container', 'logs web -c none'),
    kubectl('no earlier life', 'logs --previous web -c app'),
    kubectl('an earlier life', 'logs --previous again -c app', { until: /^life/ }),
    kubectl('no such pod', 'logs none'),
    kubectl('both sinces', 'logs --since=1h --since-time=2100-01-01T00:00:00Z web'),
    kubectl('raw, negative tail', 'get --raw /api/v1/namespaces/recorded-logs/pods/web/log?tailLines=-1'),
    kubectl('raw, no bytes', 'get --raw /api/v1/namespaces/recorded-logs/pods/web/log?limitBytes=0'),
    kubectl(
      'raw, two sinces',
      "get --raw '/api/v1/namespaces/recorded-logs/pods/web/log?sinceSeconds=1&sinceTime=2100-01-01T00:00:00Z'",
    ),
    kubectl('raw, no container of two', 'get --raw /api/v1/namespaces/recorded-logs/pods/two/log'),
  ],
};

/** `kubectl wait`, and dry runs. */
const wait: Scenario = {
  name: 'wait',
  pods: [pod('web'), pod('over', { image: BUSYBOX, command: ['true'] }, { restartPolicy: 'Never' })],
  steps: [
    kubectl('for ready', 'wait pod/web --for=condition=Ready --timeout=30s'),
    kubectl('for a phase', `wait pod/over '--for=jsonpath={.status.phase}=Succeeded' --timeout=30s`),
    kubectl('for what never comes', `wait pod/web '--for=jsonpath={.status.phase}=Failed' --timeout=1s`),
    kubectl('for a pod that is not there', 'wait pod/none --for=condition=Ready --timeout=1s'),
    kubectl('for all', `wait pods --all '--for=jsonpath={.spec.restartPolicy}' --timeout=5s`, { view: 'sorted-lines' }),
    kubectl('run, dry', `run dry --image=${DISTROLESS} --restart=Never --dry-run=server`),
    kubectl('not made', 'get pod dry'),
    kubectl('delete, dry', 'delete pod web --dry-run=server'),
    kubectl('label, dry', 'label pod web colour=red --dry-run=server'),
    kubectl('annotate, dry', 'annotate pod web colour=red --dry-run=server'),
    kubectl('label', 'label pod web colour=red'),
    kubectl('label again', 'label pod web colour=blue'),
    kubectl('the label', 'get pod web --show-labels'),
    kubectl('delete', 'delete pod web'),
    kubectl('for its end', 'wait pod/web --for=delete --timeout=30s'),
    kubectl('delete again', 'delete pod web'),
    kubectl('delete quietly', 'delete pod web --ignore-not-found'),
    kubectl('create twice', 'create -f -', { stdin: JSON.stringify(pod('over')) }),
    kubectl('create without containers', 'create -f -', {
      stdin: JSON.stringify(pod('empty', {}, { containers: [] })),
    }),
  ],
};

export const COMMANDS: readonly Scenario[] = [debug, describe, logs, wait];
