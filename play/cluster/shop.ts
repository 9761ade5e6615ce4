import type { LocalCluster } from './local-cluster.ts';
import type { PodToAdd } from './pod-spec.ts';

const NONROOT = {
  runAsUser: 65532,
  runAsGroup: 0,
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};
const limits = (cpu: string, memory: string) => ({ limits: { cpu, memory }, requests: { cpu: '50m', memory: '64Mi' } });

/** Two pods of one Deployment, so that the one that hangs can be compared with the other. */
const NEATO = {
  labels: { app: 'neato', tier: 'back', 'pod-template-hash': '6c8f5' },
  ownerReferences: [{ kind: 'ReplicaSet', name: 'neato-6c8f5', controller: true }],
} as const;

/** The namespace `shop`: a few pods, most of them with something wrong. */
const SHOP: readonly PodToAdd[] = [
  {
    name: 'pod-1234',
    labels: { app: 'web', tier: 'front' },
    containers: [
      {
        name: 'web',
        image: 'registry.example.com/shop/web:2.7',
        workload: 'close-wait',
        resources: limits('500m', '128Mi'),
      },
    ],
  },
  {
    name: 'nginx-pod-1234',
    labels: { app: 'nginx', tier: 'front' },
    containers: [
      { name: 'nginx', image: 'registry.example.com/nginx:1.27', workload: 'burn', resources: limits('100m', '128Mi') },
    ],
  },
  {
    name: 'neato-5thn0',
    ...NEATO,
    containers: [
      {
        name: 'neato',
        image: 'registry.example.com/shop/neato:1.4',
        securityContext: NONROOT,
        workload: 'web',
        resources: limits('500m', '128Mi'),
      },
    ],
  },
  {
    name: 'neato-5x9k3',
    ...NEATO,
    containers: [
      {
        name: 'neato',
        image: 'registry.example.com/shop/neato:1.4',
        securityContext: NONROOT,
        workload: 'hang',
        resources: limits('500m', '128Mi'),
      },
    ],
  },
  {
    name: 'cart-leaky-0',
    labels: { app: 'cart', tier: 'back' },
    containers: [
      {
        name: 'cart',
        image: 'registry.example.com/shop/web:2.7',
        workload: 'leak',
        resources: limits('500m', '120Mi'),
      },
    ],
  },
  {
    name: 'search-slow-0',
    labels: { app: 'search', tier: 'back' },
    containers: [
      {
        name: 'search',
        image: 'registry.example.com/shop/web:2.7',
        workload: 'burn',
        resources: limits('100m', '128Mi'),
      },
    ],
  },
  {
    name: 'orders-stuck-0',
    labels: { app: 'orders', tier: 'back' },
    containers: [
      {
        name: 'orders',
        image: 'registry.example.com/shop/orders:5.1',
        workload: 'deadlock',
        resources: limits('500m', '256Mi'),
      },
    ],
  },
  {
    name: 'payments-sockets-0',
    labels: { app: 'payments', tier: 'back' },
    containers: [
      {
        name: 'payments',
        image: 'registry.example.com/shop/web:2.7',
        workload: 'close-wait',
        resources: limits('500m', '128Mi'),
      },
    ],
  },
  {
    name: 'ledger-crash-0',
    labels: { app: 'ledger', tier: 'back' },
    containers: [
      {
        name: 'ledger',
        image: 'registry.example.com/busybox:1.36',
        command: [
          'sh',
          '-c',
          'echo "ledger: reading /etc/ledger.yaml"; sleep 2; echo "ledger: panic: no such key: currency"; exit 1',
        ],
      },
    ],
  },
];

/** The namespace `vault`: Pod Security *restricted*, one pod that conforms. */
const VAULT: PodToAdd = {
  name: 'vault-0',
  namespace: 'vault',
  labels: { app: 'vault' },
  securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 0, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'vault',
      image: 'registry.example.com/shop/web:2.7',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      workload: 'web',
      resources: limits('500m', '128Mi'),
    },
  ],
};

/** Every pod of the shop, as `openShop` adds it. */
export const SHOP_PODS: readonly PodToAdd[] = [...SHOP.map((pod) => ({ namespace: 'shop', ...pod })), VAULT];

/** Fills a cluster with the shop. */
export function openShop(cluster: LocalCluster): void {
  cluster.addNamespace('shop');
  cluster.addNamespace('vault', { 'pod-security.kubernetes.io/enforce': 'restricted' });
  for (const pod of SHOP_PODS) cluster.addPod(pod);
}
