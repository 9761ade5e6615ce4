'use strict';
// Prints a pod of one program of the test bed in one state, as JSON: pod.sh PROGRAM STATE. The container "app" is the program, "load" is
// what is around it (bed-load); the state holds when the log of "load" has the line "holds". The state "healthy" has a probe too.
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const [program = '', state = ''] = process.argv.slice(2);
const file = join(__dirname, program, 'states.json');
if (program === '' || !existsSync(file)) fail(`no program ${program}: there must be a file ${program}/states.json`);
const { limits: usual, states, healthy } = JSON.parse(readFileSync(file, 'utf8'));
const all = { ...states, ...(healthy && { healthy }) };
const wishes = all[state];
if (wishes === undefined) fail(`${program} has no state “${state}”, but ${Object.keys(all).join(', ')}`);

const securityContext = {
  runAsNonRoot: true,
  runAsUser: 10001,
  runAsGroup: 10001,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

function container(name, image, { args, command, env = {}, limits, probe, cpu = '10m' }) {
  return {
    name,
    image: `localhost/bed-${image}:1`,
    imagePullPolicy: 'IfNotPresent',
    securityContext,
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    resources: { limits, requests: { cpu, memory: '16Mi' } },
    ...(command && { command }),
    ...(args && { args }),
    ...(probe && { readinessProbe: { periodSeconds: 5, timeoutSeconds: 3, ...probe } }),
  };
}

const { args, command, env, load, limits, probe, beside = [] } = wishes;
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${program}-${state}`, labels: { app: `${program}-${state}` } },
  spec: {
    restartPolicy: wishes.restartPolicy ?? 'Never',
    terminationGracePeriodSeconds: 0,
    activeDeadlineSeconds: 3600,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // The cluster of the test may have no name server; bed-load is one.
    dnsPolicy: 'None',
    dnsConfig: {
      nameservers: ['127.0.0.1'],
      searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
      options: [{ name: 'ndots', value: '5' }],
    },
    securityContext: { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] },
    containers: [
      container('app', program, {
        args,
        command,
        env,
        limits: { ...usual, ...limits },
        ...(probe && { probe, cpu: '300m' }),
      }),
      ...beside.map((name) => container(name, name, { limits: { cpu: '500m', memory: '192Mi' } })),
      container('load', 'load', {
        args: load,
        env: wishes === healthy ? { BED_QUIET: 'yes' } : {},
        limits: { cpu: '500m', memory: '64Mi' },
      }),
    ],
  },
};
process.stdout.write(`${JSON.stringify(pod, null, 1)}\n`);

function fail(why) {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}
