import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type Labels, rfc3339 } from './pod.ts';
import type { ResourceVersions } from './resource-versions.ts';

export interface NamespaceObject {
  readonly kind: 'Namespace';
  readonly apiVersion: 'v1';
  readonly metadata: PlaceMetadata;
  readonly spec: { readonly finalizers: readonly string[] };
  readonly status: { readonly phase: 'Active' };
}

interface PlaceMetadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly labels: Labels;
}

export interface NodeObject {
  readonly kind: 'Node';
  readonly apiVersion: 'v1';
  readonly metadata: PlaceMetadata;
  readonly spec: object;
  readonly status: {
    readonly addresses: readonly { readonly type: string; readonly address: string }[];
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
      readonly lastTransitionTime: string;
    }[];
    readonly nodeInfo: Readonly<Record<string, string>>;
  };
}

/** Namespaces and nodes: made once, read often. */
export class Places {
  readonly #clock: Clock;
  readonly #versions: ResourceVersions;
  readonly namespaces = new Map<string, NamespaceObject>();
  readonly nodes = new Map<string, NodeObject>();

  constructor(clock: Clock, versions: ResourceVersions) {
    this.#clock = clock;
    this.#versions = versions;
  }

  /** Adds a namespace or replaces its labels. */
  addNamespace(name: string, labels: Labels = {}): NamespaceObject {
    const made = this.draftNamespace(name, labels);
    this.namespaces.set(name, made);
    return made;
  }

  /** The same, kept nowhere. */
  draftNamespace(name: string, labels: Labels = {}): NamespaceObject {
    const metadata = this.#metadata(name, { 'kubernetes.io/metadata.name': name, ...labels });
    return {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { ...metadata, uid: this.namespaces.get(name)?.metadata.uid ?? metadata.uid },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    };
  }

  setNode(name: string, ready: boolean): void {
    const status = ready ? 'True' : 'Unknown';
    const reason = ready ? 'KubeletReady' : 'NodeStatusUnknown';
    const message = ready ? 'kubelet is posting ready status' : 'Kubelet stopped posting node status.';
    const metadata = this.#metadata(name, { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' });
    this.nodes.set(name, {
      kind: 'Node',
      apiVersion: 'v1',
      metadata: { ...metadata, uid: this.nodes.get(name)?.metadata.uid ?? metadata.uid },
      spec: {},
      status: {
        addresses: [
          { type: 'InternalIP', address: NODE_ADDRESS },
          { type: 'Hostname', address: name },
        ],
        conditions: [{ type: 'Ready', status, reason, message, lastTransitionTime: metadata.creationTimestamp }],
        nodeInfo: {
          kubeletVersion: 'v1.34.4',
          operatingSystem: 'linux',
          architecture: 'amd64',
          containerRuntimeVersion: 'simulated://1',
          kernelVersion: '6.1.0',
          osImage: 'kdebug local cluster',
        },
      },
    });
  }

  #metadata(name: string, labels: Labels): PlaceMetadata {
    const resourceVersion = String(this.#versions.next());
    return { name, uid: randomUUID(), resourceVersion, creationTimestamp: rfc3339(this.#clock.now()), labels };
  }
}

export const NODE_ADDRESS = '10.244.0.1';
