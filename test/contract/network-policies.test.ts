import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Peer {
  readonly namespaceSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly podSelector?: { readonly matchLabels?: unknown };
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface NetworkPolicy {
  readonly spec: {
    readonly podSelector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly { readonly from?: readonly Peer[]; readonly ports?: readonly { port: unknown }[] }[];
    readonly egress?: readonly { readonly to?: readonly Peer[]; readonly ports?: readonly { port: unknown }[] }[];
  };
}

const read = (path: string): NetworkPolicy =>
  parse(readFileSync(fileURLToPath(new URL(`../../manifests/${path}`, import.meta.url)), 'utf8'));
const NAMESPACE = 'kubernetes.io/metadata.name';

const ours = { matchLabels: { 'app.kubernetes.io/name': 'kdebug' } };

describe('the way in', () => {
  const { spec } = read('base/network-policy.yaml');

  it('is closed to every pod but those of the monitoring namespace, which reach the ops port alone', () => {
    expect([spec.podSelector, spec.policyTypes]).toEqual([ours, ['Ingress']]);
    expect(spec.ingress).toEqual([
      { from: [{ namespaceSelector: { matchLabels: { [NAMESPACE]: 'monitoring' } } }], ports: [{ port: 'ops' }] },
    ]);
  });

  it('is open over HTTP to the ingress controller too, at the port for Slack alone', () => {
    const http = read('components/http/network-policy.yaml').spec;
    expect([http.podSelector, http.policyTypes]).toEqual([ours, ['Ingress']]);
    expect(http.ingress).toEqual([
      { from: [{ namespaceSelector: { matchLabels: { [NAMESPACE]: 'ingress-nginx' } } }], ports: [{ port: 'slack' }] },
    ]);
  });
});

it('is open to the senders of alerts too, where they are taken, at their port alone', () => {
  const { spec } = read('components/alerts/network-policy.yaml');
  expect([spec.podSelector, spec.policyTypes]).toEqual([ours, ['Ingress']]);
  expect(spec.ingress).toEqual([
    { from: [{ namespaceSelector: { matchLabels: { [NAMESPACE]: 'monitoring' } } }], ports: [{ port: 'alerts' }] },
  ]);
});

describe('the way out', () => {
  const { spec } = read('components/egress/network-policy.yaml');
  const rules = spec.egress ?? [];
  const blocks = rules.flatMap(({ to = [], ports = [] }) =>
    to.flatMap(({ ipBlock }) => (ipBlock ? [{ ...ipBlock, ports: ports.map(({ port }) => port) }] : [])),
  );

  /** The ports at which an address may be reached by an ipBlock. */
  function portsAt(address: string): readonly unknown[] {
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    const holds = (cidr: string): boolean => {
      const [network = '', bits] = cidr.split('/');
      if (network.includes(':') !== address.includes(':')) return false;
      const list = new BlockList();
      list.addSubnet(network, Number(bits), family);
      return list.check(address, family);
    };
    return blocks.filter(({ cidr, except = [] }) => holds(cidr) && !except.some(holds)).flatMap(({ ports }) => ports);
  }

  it('is for the pods of kdebug, and every part of it names its addresses and its ports', () => {
    expect(spec.podSelector).toEqual(ours);
    expect(spec.policyTypes).toEqual(['Egress']);
    expect(rules.length).toBeGreaterThan(2);
    for (const { to = [], ports = [] } of rules) {
      expect(to.length).toBeGreaterThan(0);
      expect(ports.length).toBeGreaterThan(0);
      for (const peer of to) expect(Object.keys(peer).length).toBeGreaterThan(0);
    }
  });

  it.each(['10.96.0.1', '172.16.3.4', '192.168.1.1', '100.64.0.7', '169.254.169.254', 'fd00::1', 'fe80::1'])(
    'does not lead to %s: inside, or the metadata of the cloud',
    (address) => expect(portsAt(address)).toEqual([]),
  );

  it.each(['3.68.170.153', '54.192.10.1', '2600:1f18::1'])('leads to %s outside by HTTPS alone', (address) => {
    expect(portsAt(address)).toEqual([443]);
  });

  it('leads to the API server at an address that whoever copies it must set', () => {
    expect(portsAt('192.0.2.1')).toEqual([6443, 443]);
  });

  it('leads to cluster DNS, which kustomize finds under no label of ours', () => {
    const dns = rules.find(({ ports = [] }) => ports.some(({ port }) => port === 53));
    expect(dns?.to).toEqual([
      {
        namespaceSelector: { matchLabels: { [NAMESPACE]: 'kube-system' } },
        podSelector: { matchExpressions: [{ key: 'k8s-app', operator: 'In', values: ['kube-dns'] }] },
      },
    ]);
  });
});
