import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { V1Pod, V1PodList } from '@kubernetes/client-node';
import type { LocalSlack } from '../../../play/slack/index.ts';
import { sha256 } from '../../../src/core/hash.ts';
import { kubectl, type RunOptions, run, signalContainer } from './commands.ts';
import { type InstalledPolicy, installedPolicy, type Way } from './policy.ts';
import { REDIS_URL, redisPod } from './redis-pod.ts';
import { HelmTool, KustomizeTool, type Tool } from './tools.ts';

const SECRET = ['kdebug', 'create', 'secret', 'generic', 'kdebug'];
const READY_MS = 60_000;

/** kdebug in the namespace `kdebug` of the test cluster, installed as an operator would. */
export class Installation {
  readonly #way: Way;
  readonly #slack: LocalSlack;
  readonly #tool: Tool;
  readonly #directory = mkdtempSync(join(tmpdir(), 'kdebug-installed-'));
  readonly #key = randomBytes(32).toString('base64');
  /** Where people's pods are, or were. */
  readonly #namespaces = new Set<string>();
  #policy: InstalledPolicy;

  private constructor(way: Way, slack: LocalSlack, policy: InstalledPolicy) {
    this.#way = way;
    this.#slack = slack;
    this.#policy = policy;
    this.#tool = new (way.tool === 'helm' ? HelmTool : KustomizeTool)(way.name, this.#directory);
  }

  /** `policy`: as for the end-to-end tests; what it says of clusters, identity and the default image is replaced. Resolves when it is ready. */
  static async install(way: Way, slack: LocalSlack, policy: string): Promise<Installation> {
    const made = new Installation(way, slack, installedPolicy(policy, way.name));
    if (way.name === 'several') await redisPod.install();
    // Another test's may be on its way out.
    await kubectl(['wait', '--for=delete', 'namespace/kdebug', '--timeout=60s']);
    await kubectl(['create', 'namespace', 'kdebug']);
    await made.putSecret();
    await made.#apply();
    await made.ready();
    return made;
  }

  /** Makes the Secret anew with what Slack takes now; a running bot sees it after a restart. */
  async putSecret(): Promise<void> {
    const { name } = this.#way;
    const { botToken, appToken, signingSecret } = this.#slack;
    const values = {
      SLACK_BOT_TOKEN: botToken,
      ...(name === 'http' ? { SLACK_SIGNING_SECRET: signingSecret } : { SLACK_APP_TOKEN: appToken }),
      KDEBUG_KEY: this.#key,
      ...(name === 'several' && { REDIS_URL }),
    };
    const literals = Object.entries(values).map(([key, value]) => `--from-literal=${key}=${value}`);
    const made = await kubectl(['-n', ...SECRET, ...literals, '--dry-run=client', '-o', 'yaml']);
    await kubectl(['apply', '-f', '-'], { input: made });
  }

  /** Applies another policy and waits until every replica goes by it. */
  async setPolicy(policy: string): Promise<void> {
    this.#policy = installedPolicy(policy, this.#way.name);
    await this.#apply();
    const hash = sha256(this.#policy.text);
    await this.#eachLog((log) => log.includes(hash), `takes the policy ${hash}`);
  }

  /** Applies a policy file as it stands, right or wrong, and waits until each replica's log has the words. */
  async putPolicyText(text: string, words: string): Promise<void> {
    this.#policy = { ...this.#policy, text };
    await this.#apply();
    await this.#eachLog((log) => log.includes(words), `says "${words}"`);
  }

  get policyText(): string {
    return this.#policy.text;
  }

  /** Resolves when as many pods as the Deployment wants are ready, and no other is left. */
  async ready(): Promise<void> {
    await this.kubectl(['rollout', 'status', 'deployment/kdebug', `--timeout=${READY_MS / 1000}s`]);
  }

  /** The bot's pods that are not about to go. */
  async pods(): Promise<readonly V1Pod[]> {
    const selector = 'app.kubernetes.io/name=kdebug,!job-name';
    const { items } = JSON.parse(await this.kubectl(['get', 'pods', '-l', selector, '-o', 'json'])) as V1PodList;
    return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  }

  /** The records of all its pods, as they stand there. */
  async log(pod: string): Promise<string> {
    return this.kubectl(['logs', pod, '-c', 'kdebug']);
  }

  /** `kill -9` of each replica whose log has the words; returns how many. */
  async killThoseThatSaid(words: string): Promise<number> {
    let killed = 0;
    for (const { metadata, status } of await this.pods()) {
      const log = await this.log(metadata?.name ?? '');
      if (!log.includes(words)) continue;
      await signalContainer(status?.containerStatuses?.[0]?.containerID ?? '', 'SIGKILL');
      killed += 1;
    }
    return killed;
  }

  /** What `doctor` says in a pod of it. @throws Error with that, when it finds a fault */
  doctor(): Promise<string> {
    return this.kubectl(['exec', 'deploy/kdebug', '--', 'node', 'main.js', 'doctor']);
  }

  async restart(): Promise<void> {
    await this.kubectl(['rollout', 'restart', 'deployment/kdebug']);
    await this.ready();
  }

  kubectl(words: readonly string[], options?: RunOptions): Promise<string> {
    return kubectl(['-n', 'kdebug', ...words], options);
  }

  /** Takes everything away. Returns what is left of it in the cluster, by kind and name. */
  async uninstall(): Promise<readonly string[]> {
    // A namespace that is deleted with running pods in it is looked after ever less often.
    await this.kubectl(['delete', 'deployment', 'kdebug', '--cascade=foreground']);
    await this.#tool.uninstall();
    await Promise.all([...this.#namespaces].map((namespace) => this.#tool.forget(namespace)));
    await kubectl(['delete', 'namespace', 'kdebug', '--ignore-not-found']);
    await redisPod.remove();
    rmSync(this.#directory, { recursive: true, force: true });
    // Others may have an installation's objects in namespaces of their own.
    const kinds = 'clusterroles,clusterrolebindings,priorityclasses,namespaces,rolebindings,roles';
    const names = '{range .items[*]}{.metadata.namespace}/{.kind}/{.metadata.name}{"\\n"}{end}';
    const all = (await kubectl(['get', kinds, '-A', '-o', `jsonpath=${names}`])).split('\n');
    const isOurs = (namespace: string): boolean => namespace === '' || this.#namespaces.has(namespace);
    return all.filter(
      (line) => isOurs(line.split('/')[0] ?? '') && /\/kdebug(-(policy|reviews|subject|nodes).*)?$/.test(line),
    );
  }

  async #apply(): Promise<void> {
    const { text, namespaces } = this.#policy;
    for (const namespace of namespaces) this.#namespaces.add(namespace);
    const path = join(this.#directory, 'policy.yaml');
    writeFileSync(path, text);
    const rbac = this.#way.name === 'impersonate' ? await printedRights(path) : undefined;
    await this.#tool.apply({ policy: text, namespaces, rbac });
    // A kubelet looks after a ConfigMap once a minute, and whenever it looks after the pod.
    for (const { metadata } of await this.pods()) {
      const note = `looked-at=${Date.now()}`;
      await this.kubectl(['annotate', 'pod', metadata?.name ?? '', '--overwrite', note]).catch(() => undefined);
    }
  }

  async #eachLog(holds: (log: string) => boolean, what: string): Promise<void> {
    for (let left = 750; ; left -= 1) {
      const names = (await this.pods()).map(({ metadata }) => metadata?.name ?? '');
      const logs = await Promise.all(names.map((name) => this.log(name).catch(() => '')));
      if (logs.length > 0 && logs.every(holds)) return;
      if (left === 0)
        throw new Error(`not every replica ${what}:\n${logs.map((log) => log.slice(-2000)).join('\n--\n')}`);
      await pause(200);
    }
  }
}

/** What `npm run rbac` prints for a policy whose people are templates. */
const printedRights = (policy: string): Promise<string> =>
  run('npm', ['run', '--silent', 'rbac', '--', '--policy', policy, '--user', 'U0ROY', '--user', 'U0BOB']);
