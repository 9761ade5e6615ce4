import type { PodSecurityLevel } from '../../core/container/pod.ts';
import type { Clock } from '../../flow/ports/machine.ts';
import type { ApiClient } from './api/api-client.ts';
import { asObject, asTexts } from './api/json-fields.ts';
import { namespacePath } from './api/paths.ts';
import { KeptAnswers } from './kept-answers.ts';

const LABEL = 'pod-security.kubernetes.io/enforce';
const FRESH_MS = 30_000;
const MOST_NAMESPACES = 1_000;

/** The Pod Security levels of namespaces, each asked for at most once in 30 s. */
export class PodSecurity {
  readonly #client: ApiClient;
  readonly #known: KeptAnswers<PodSecurityLevel>;

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#known = new KeptAnswers({ clock, freshMs: () => FRESH_MS, most: MOST_NAMESPACES });
  }

  /** @throws KdebugError namespace_not_found, invalid_name */
  levelOf(namespace: string): Promise<PodSecurityLevel> {
    return this.#known.of(namespace, () => this.#ask(namespace));
  }

  async #ask(namespace: string): Promise<PodSecurityLevel> {
    const raw = await this.#client.json({ path: namespacePath(namespace) }, 'namespace_not_found');
    return readLevel(asTexts(asObject(asObject(raw).metadata).labels)[LABEL]);
  }
}

/** A value that is none of the three counts as `restricted`, as in Pod Security Admission itself (policy.ParseLevel). */
function readLevel(label: string | undefined): PodSecurityLevel {
  if (label === undefined || label === '' || label === 'privileged') return 'privileged';
  return label === 'baseline' ? 'baseline' : 'restricted';
}
