import type { Kube } from '../../e2e/kube.ts';
import { ApiProxy } from '../../support/program/api-proxy.ts';
import type { BuiltProgram } from '../../support/program/built-program.ts';
import { CHANNEL, ProgramScene } from '../../support/program/program-scene.ts';

const policyFor = (namespace: string): string => `version: 1
clusters:
  test: { context: proxied, default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images:
  lines: { image: "localhost/lines:1", class: observe, command: allowed }
  debugger: { image: "localhost/lines:1", class: elevated, command: allowed }
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespace}], classes: [observe, intrusive], profiles: [restricted, baseline, general] }
      - { id: attach, clusters: [test], namespaces: [${namespace}], classes: [elevated], profiles: [sysadmin], approval: { from: [sre], count: 1, expires: 15m } }
limits: { startDeadline: 60s }
`;

/** What somebody asks for; every one ends with a log of numbered lines, which is longer than its excerpt unless it has no file. */
export interface Story {
  readonly image: 'lines' | 'debugger';
  readonly command: string;
  readonly lines: number;
  readonly width: number;
  readonly hasFile?: boolean;
}

export interface CrashSceneOptions {
  readonly program: BuiltProgram;
  readonly kube: Kube;
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly pod: string;
  readonly store: 'redis' | 'memory';
}

/** One run, told by real processes on a real cluster, and the judgement of what is left of it in the end. */
export class CrashScene {
  readonly at: ProgramScene;
  readonly proxy: ApiProxy;
  readonly #options: CrashSceneOptions;

  private constructor(options: CrashSceneOptions, at: ProgramScene, proxy: ApiProxy) {
    this.#options = options;
    this.at = at;
    this.proxy = proxy;
  }

  static async open(options: CrashSceneOptions): Promise<CrashScene> {
    const proxy = await ApiProxy.to(options.kubeconfig);
    const { program, store, namespace } = options;
    const policy = policyFor(namespace);
    const at = await ProgramScene.open({ program, kubeconfig: proxy.kubeconfig, policy, store });
    return new CrashScene(options, at, proxy);
  }

  /** Types the command; resolves with its acknowledgement. */
  ask({ image, command }: Story) {
    const { pod, namespace } = this.#options;
    const profile = image === 'debugger' ? ' --profile=sysadmin' : '';
    return this.at.type(`${pod} -n ${namespace} --image=${image}${profile} -- ${command}`);
  }

  /** The card that asks for votes, once it stands. */
  async card(): Promise<string> {
    const found = await this.at.slack.until(() =>
      this.at.posts('anchor').find(({ blocks }) => JSON.stringify(blocks).includes('"approve"')),
    );
    return found.ts;
  }

  /** Clicks until somebody takes it: a run that a dead process holds cannot be voted on for some seconds. */
  async approve(): Promise<void> {
    const ts = await this.card();
    const isOpen = (): boolean => JSON.stringify(this.at.slack.message(CHANNEL, ts)?.blocks).includes('"approve"');
    for (let tries = 20; isOpen() && tries > 0; tries -= 1) {
      await this.at.press('U0BOB', 'approve', ts);
      await this.at.slack.until(() => !isOpen(), 1_000).catch(() => undefined);
    }
  }

  /** Waits until the thread says everything. */
  async told({ hasFile = true }: Story, withinMs = 40_000): Promise<void> {
    const { slack } = this.at;
    await slack.until(
      () =>
        this.at.textOf(this.at.posts('anchor')[0]).includes('Succeeded') &&
        this.at.posts('result').length > 0 &&
        (slack.files().length > 0 || !hasFile),
      withinMs,
    );
  }

  /** What is wrong in Slack and in the cluster; empty when all is there, once. */
  async wrong(story: Story): Promise<readonly string[]> {
    const { kube, namespace, pod } = this.#options;
    const { slack } = this.at;
    const anchors = this.at.posts('anchor');
    const results = this.at.posts('result');
    const files = slack.files();
    const containers = (await kube.read(namespace, pod)).spec?.ephemeralContainers ?? [];
    const counts = { anchors, results, containers };
    const wrong = Object.entries(counts).flatMap(([what, { length }]) => (length === 1 ? [] : [`${length} ${what}`]));
    if (files.length !== (story.hasFile === false ? 0 : 1)) wrong.push(`${files.length} files`);
    if (results[0] && results[0].threadTs !== anchors[0]?.ts) wrong.push('the result is not in the thread');
    if (files[0] && (await files[0].content()).toString() !== logOf(story)) wrong.push('the file is not the log');
    wrong.push(...slack.unknown.map((name) => `unknown to Slack: ${name}`));
    wrong.push(...this.at.bots.flatMap(({ errors }) => (errors === '' ? [] : [`on standard error: ${errors}`])));
    return wrong;
  }

  async close(): Promise<void> {
    await this.at.close();
    await this.proxy.close();
  }
}

/** What the image `lines` writes. */
function logOf({ lines, width }: Story): string {
  const pad = 'x'.repeat(width - 12);
  return Array.from({ length: lines }, (_, index) => `${String(index + 1).padStart(10, '0')} ${pad}\n`).join('');
}
