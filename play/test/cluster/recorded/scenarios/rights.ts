import type { Scenario } from '../scenario.ts';
import { BUSYBOX, kubectl, pod, running } from './steps.ts';

const PATCHER = 'patch pods --subresource=ephemeralcontainers';

/** Who may: `auth can-i`, `--as`, and the words of a refusal. */
const rights: Scenario = {
  name: 'rights',
  pods: [pod('web')],
  steps: [
    running('web'),
    kubectl('the admin may', `auth can-i ${PATCHER}`),
    kubectl('roy may not', `auth can-i ${PATCHER} --as=roy`),
    kubectl('who roy is', 'auth whoami --as=roy --as-group=viewers'),
    kubectl('who roy is, with extra', 'auth whoami --as=roy --as-uid=u-7 -o json', { view: 'json' }),
    kubectl('roy gets', 'get pods --as=roy'),
    kubectl('roy gets one', 'get pod web --as=roy'),
    kubectl('roy watches', 'get pods -w --as=roy'),
    kubectl('roy reads a log', 'logs web --as=roy'),
    kubectl('roy deletes', 'delete pod web --as=roy'),
    kubectl('roy reads events', 'get events --as=roy'),
    kubectl('roy reads nodes', 'get nodes --as=roy'),
    kubectl('a role', 'create role look --verb=get,list,watch --resource=pods,pods/log'),
    kubectl('a binding', 'create rolebinding look --role=look --user=roy'),
    kubectl('now roy may look', 'auth can-i get pods --as=roy', { until: /^yes/ }),
    kubectl('and read', 'auth can-i get pods/log --as=roy'),
    kubectl('but not debug', `auth can-i ${PATCHER} --as=roy`),
    kubectl('roy gets now', 'get pods --as=roy'),
    kubectl('roy debugs', `debug web --as=roy --image=${BUSYBOX} --profile=general -- true`),
    kubectl('roy speaks for the admin', 'get pods --as=roy --as-group=system:masters'),
    kubectl('a service account gets', 'get pods --as=system:serviceaccount:shop:bot'),
    kubectl('a group without a person', 'get pods --as-group=viewers'),
    kubectl('may anybody', 'auth can-i get pods --as=system:anonymous'),
    kubectl('a path', 'auth can-i get /metrics --as=roy'),
    kubectl('a verb that is none', 'auth can-i eat pods --as=roy'),
    kubectl('a binding to nothing', 'create rolebinding lost --clusterrole=nowhere --user=ginger'),
    kubectl('ginger may not', 'auth can-i get pods --as=ginger', { until: /not found/ }),
    kubectl('an escalation', 'create role more --verb=* --resource=pods --as=roy'),
    kubectl('the role, described', 'describe role look'),
    kubectl('the binding, described', 'describe rolebinding look'),
    kubectl('the roles', 'get roles'),
    kubectl('the bindings', 'get rolebindings -o wide', { view: 'sorted-lines' }),
  ],
};

const FINE = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
const NONROOT = { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } };

const profiles = ['general', 'baseline', 'restricted', 'netadmin', 'sysadmin'].map((profile) =>
  kubectl(`debug as ${profile}`, `debug web -c ${profile} --image=${BUSYBOX} --profile=${profile} -- true`),
);

const level = (name: string): Scenario => ({
  name,
  labels: { 'pod-security.kubernetes.io/enforce': name },
  pods: [pod('web', { securityContext: FINE }, { securityContext: NONROOT })],
  steps: [
    ...profiles,
    kubectl('run', `run plain --image=${BUSYBOX} --restart=Never -- true`),
    kubectl('run, dry', `run plain --image=${BUSYBOX} --restart=Never --dry-run=server -- true`),
    kubectl('create with everything', 'create -f -', { stdin: JSON.stringify(greedy) }),
  ],
});

const greedy = pod(
  'greedy',
  {
    securityContext: { privileged: true, capabilities: { add: ['NET_ADMIN', 'SYS_PTRACE'] } },
    ports: [{ containerPort: 80, hostPort: 80 }],
  },
  { hostNetwork: true, hostPID: true, volumes: [{ name: 'disk', hostPath: { path: '/' } }] },
);

/** Pod Security that only warns. */
const warns: Scenario = {
  name: 'warns',
  labels: { 'pod-security.kubernetes.io/warn': 'restricted', 'pod-security.kubernetes.io/warn-version': 'latest' },
  pods: [pod('web', { securityContext: FINE }, { securityContext: NONROOT })],
  steps: [
    ...profiles.slice(0, 1),
    kubectl('run', `run plain --image=${BUSYBOX} --restart=Never -- true`),
    kubectl('a level that is none', 'label namespace recorded-warns pod-security.kubernetes.io/enforce=strict'),
    kubectl('a stricter level', 'label namespace recorded-warns pod-security.kubernetes.io/enforce=restricted'),
  ],
};

export const RIGHTS: readonly Scenario[] = [rights, level('baseline'), level('restricted'), warns];
