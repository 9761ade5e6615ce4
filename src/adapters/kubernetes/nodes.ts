import type { Node } from '../../core/container/pod.ts';
import type { Clock } from '../../flow/ports/machine.ts';
import type { ApiClient } from './api/api-client.ts';
import { toClusterError } from './api/api-errors.ts';
import { asObject, asObjects, asText } from './api/json-fields.ts';
import { nodePath } from './api/paths.ts';
import { KeptAnswers } from './kept-answers.ts';

const FRESH_MS = 30_000;
/** A right that the bot lacks is seldom given meanwhile. */
const UNSEEN_MS = 300_000;
const MOST_NODES = 5_000;
/** The node is only one line of a verdict, and nobody waits long for that. */
const TIMEOUT_MS = 3_000;

/** Nodes as they were at most 30 s ago, each asked for only when somebody wants to know. */
export class Nodes {
  readonly #client: ApiClient;
  readonly #known: KeptAnswers<Node | undefined>;

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#known = new KeptAnswers({ clock, freshMs: (node) => (node ? FRESH_MS : UNSEEN_MS), most: MOST_NODES });
  }

  /** Undefined for 403 and 404. @throws KdebugError invalid_name, and as the Cluster port says */
  of(name: string): Promise<Node | undefined> {
    return this.#known.of(name, () => this.#ask(name));
  }

  async #ask(name: string): Promise<Node | undefined> {
    const answer = await this.#client.send({ path: nodePath(name), timeoutMs: TIMEOUT_MS });
    if (answer.status === 403 || answer.status === 404) return undefined;
    if (answer.status !== 200) throw toClusterError(answer);
    const conditions = asObjects(asObject(asObject(answer.body).status).conditions);
    return { name, conditions: conditions.map(({ type, status }) => ({ type: asText(type), status: asText(status) })) };
  }
}
