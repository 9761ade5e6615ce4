import { at } from '../json.ts';
import type { Scenario } from '../scenario.ts';
import { isIn } from '../states.ts';
import { BUSYBOX, ended, events, finish, kubectl, launch, pod, running, shell, shown, start, until } from './steps.ts';

const busybox = (line: string) => ({ image: BUSYBOX, command: ['sh', '-c', line] });

/** What never starts, and why. */
const failures: Scenario = {
  name: 'failures',
  pods: ['root', 'command', 'word', 'image', 'name', 'never'].map((name) => pod(name)),
  steps: [
    ...['root', 'command', 'word', 'image', 'name', 'never'].map((name) => running(name)),
    launch('root where it must not be', 'root', shell('a', 'true', { securityContext: { runAsNonRoot: true } })),
    launch('no such command', 'command', { name: 'a', image: BUSYBOX, command: ['/no/such'] }),
    launch('no such word', 'word', { name: 'a', image: BUSYBOX, command: ['nosuch'] }),
    start('image, watched', { watchPod: 'image', begun: /ready=True/ }),
    launch('no such image', 'image', { name: 'a', image: 'registry.example.com/no/such:1' }),
    launch('no reference', 'name', { name: 'a', image: 'No Such' }),
    launch('never pulled', 'never', { name: 'a', image: 'localhost/no-such:1', imagePullPolicy: 'Never' }),
    until('root', 'refused', isIn('a', 'waiting', 'CreateContainerConfigError')),
    shown('root, as shown', 'root'),
    events('root, its events', 'root', /runAsNonRoot/),
    kubectl('root, its log', 'logs root -c a'),
    until(
      'command',
      'refused',
      (seen) => isIn('a', 'waiting', 'RunContainerError')(seen) || isIn('a', 'terminated')(seen),
    ),
    shown('command, as shown', 'command'),
    events('command, its events', 'command', /no such file/),
    kubectl('command, its log', 'logs command -c a'),
    until(
      'word',
      'refused',
      (seen) => isIn('a', 'waiting', 'RunContainerError')(seen) || isIn('a', 'terminated')(seen),
    ),
    shown('word, as shown', 'word'),
    events('word, its events', 'word', /executable file/),
    until('image', 'given up for now', isIn('a', 'waiting', 'ImagePullBackOff')),
    finish('image, watched', /ImagePullBackOff/),
    kubectl('image, its log', 'logs image -c a', { until: /trying and failing/ }),
    shown('image, as shown', 'image', /ImagePullBackOff/),
    events('image, its events', 'image', /Back-off/),
    until('name', 'refused', isIn('a', 'waiting', 'InvalidImageName')),
    shown('name, as shown', 'name'),
    events('name, its events', 'name', /InspectFailed/),
    until('never', 'refused', isIn('a', 'waiting', 'ErrImageNeverPull')),
    shown('never, as shown', 'never'),
    events('never, its events', 'never', /ErrImageNeverPull/),
    kubectl('all of them', 'get pods', { view: 'sorted-lines' }),
  ],
};

/** What starts, and how it ends. */
const ends: Scenario = {
  name: 'ends',
  pods: [
    pod('codes'),
    pod('words'),
    pod('message'),
    pod('fallback'),
    pod('brief', busybox('sleep 8'), { restartPolicy: 'Never' }),
  ],
  steps: [
    running('brief'),
    launch('a joined container', 'brief', shell('joined', 'echo here; sleep 300', { targetContainerName: 'app' })),
    running('brief', 'joined'),
    ...['codes', 'words', 'message', 'fallback'].map((name) => running(name)),
    launch('an exit code', 'codes', shell('a', 'echo out; exit 3')),
    launch(
      '$ is expanded',
      'words',
      shell('a', "echo '$(NAME) $$(NAME) $(OTHER) $$'", { env: [{ name: 'NAME', value: 'bob' }] }),
    ),
    launch('a message file', 'message', shell('a', 'echo found it > /dev/termination-log')),
    launch(
      'the log as the message',
      'fallback',
      shell('a', 'echo last words; exit 1', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
    ),
    ...['codes', 'words', 'message', 'fallback'].map((name) => ended(name, 'a')),
    shown('the exit code, as shown', 'codes'),
    events('its events', 'codes', /Started container a/),
    kubectl('the words, as said', 'logs words -c a'),
    shown('the message, as shown', 'message'),
    shown('the last words, as shown', 'fallback'),
    ended('brief', 'joined'),
    shown('the target has ended', 'brief'),
    kubectl('its log up to there', 'logs brief -c joined'),
    ended('brief', 'app'),
    kubectl('the pod is over', 'get pod brief'),
  ],
};

/** Targets that are not there when they are wanted, pods that go away. */
const targets: Scenario = {
  name: 'targets',
  pods: [pod('crash', busybox('exit 1')), pod('leaving', busybox('sleep 300'))],
  steps: [
    running('leaving'),
    start('the leaving pod, watched', { watchPod: 'leaving', begun: /ready=True/ }),
    launch('into the leaving pod', 'leaving', shell('a', 'echo here; sleep 300')),
    running('leaving', 'a'),
    until('crash', 'looping', isIn('app', 'waiting', 'CrashLoopBackOff')),
    kubectl('the looping pod', 'get pod crash', { until: /CrashLoopBackOff/ }),
    kubectl('its state', `get pod crash -o 'jsonpath={.status.containerStatuses[0].state}'`, {
      view: 'json',
      until: /CrashLoopBackOff/,
    }),
    // It has run once more if kubectl took longer than the back-off.
    until('crash', 'looping', isIn('app', 'waiting', 'CrashLoopBackOff')),
    launch('into the looping pod', 'crash', shell('a', 'sleep 1', { targetContainerName: 'app' })),
    events('why it does not start', 'crash', /invalid target container/),
    kubectl('delete', 'delete pod leaving'),
    finish('the leaving pod, watched', /deleted: /),
    kubectl('get after delete', 'get pod leaving'),
    kubectl('logs after delete', 'logs leaving -c a'),
    events('events of the deleted', 'leaving', /Killing/),
  ],
};

/** A pod's whole life and a debug container's, as a watch tells it and as `kubectl get -w` prints it. */
const watched: Scenario = {
  name: 'watched',
  pods: [pod('web', busybox('sleep 300'))],
  steps: [
    running('web'),
    start('by the API', { watchPod: 'web', begun: /ready=True/ }),
    start('by kubectl', { words: ['get', 'pods', '-w'], begun: /web/ }),
    start('by kubectl, states', {
      words: [
        'get',
        'pods',
        '-w',
        '-o',
        'jsonpath={.metadata.name} {.status.ephemeralContainerStatuses[*].state.terminated.exitCode}{"\\n"}',
      ],
      begun: /web/,
    }),
    launch('a debug container', 'web', shell('a', 'sleep 3; exit 4')),
    ended('web', 'a'),
    finish('by kubectl, states', /web 4/),
    kubectl('delete', 'delete pod web'),
    finish('by the API', /deleted: /),
    finish('by kubectl', /\bError\b/),
    kubectl('a new one', `run short --image=${BUSYBOX} --restart=Never -- sh -c 'exit 2'`),
    until('short', 'over', (seen) => at(seen, 'status', 'phase') === 'Failed'),
    kubectl('how it ended', 'get pods'),
  ],
};

export const STARTS: readonly Scenario[] = [failures, ends, targets, watched];
