import type { PodSecurityLevel } from '../../core/container/pod.ts';
import type { Clock } from '../../flow/ports/machine.ts';
import type { ApiClient } from './api/api-client.ts';
import { asObject, asTexts } from './api/json-fields.ts';
import { namespacePath } from './api/paths.ts';

const LABEL = 'pod-security.kubernetes.io/enforce';
const FRESH_MS = 30_000;
const MOST_NAMESPACES = 1_000;

interface Known {
  readonly level: Promise<PodSecurityLevel>;
  readonly atMs: number;
}

/** The Pod Security levels of namespaces, each asked for at most once in 30 s. */
export class PodSecurity {
  readonly #client: ApiClient;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** @throws KdebugError namespace_not_found, invalid_name */
  levelOf(namespace: string): Promise<PodSecurityLevel> {
    const now = this.#clock.now();
    const known = this.#known.get(namespace);
    if (known && now - known.atMs < FRESH_MS && now >= known.atMs) return known.level;
    const level = this.#ask(namespace);
    this.#known.delete(namespace);
    this.#known.set(namespace, { level, atMs: now });
    this.#forgetOldest();
    level.catch(() => {
      if (this.#known.get(namespace)?.level === level) this.#known.delete(namespace);
    });
    return level;
  }

  async #ask(namespace: string): Promise<PodSecurityLevel> {
    const raw = await this.#client.json({ path: namespacePath(namespace) }, 'namespace_not_found');
    return readLevel(asTexts(asObject(asObject(raw).metadata).labels)[LABEL]);
  }

  #forgetOldest(): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_NAMESPACES && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** A value that is none of the three counts as `restricted`, as in Pod Security Admission itself (policy.ParseLevel). */
function readLevel(label: string | undefined): PodSecurityLevel {
  if (label === undefined || label === '' || label === 'privileged') return 'privileged';
  return label === 'baseline' ? 'baseline' : 'restricted';
}
