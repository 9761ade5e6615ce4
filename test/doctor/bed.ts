import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { type LocalCluster, type LocalClusterOptions, startLocalCluster } from '../../play/cluster/index.ts';
import { type LocalSlack, type LocalSlackOptions, startLocalSlack } from '../../play/slack/index.ts';
import { doctor } from '../../src/compose-doctor.ts';
import type { Check } from '../../src/doctor/check.ts';

const ROOT = new URL('../../', import.meta.url);

/** The objects of a manifest in the repository. */
export const manifest = (
  path: string,
): readonly { readonly kind: string; readonly metadata: { namespace?: string } }[] =>
  parseAllDocuments(readFileSync(new URL(`manifests/${path}`, ROOT), 'utf8')).map((one) => one.toJS());

export interface Said {
  readonly exitCode: number;
  readonly text: string;
  readonly checks: readonly Check[];
  /** The one check of that area and name. @throws Error with the report when there are none or several */
  check(area: string, what: string | RegExp): Check;
}

export interface BedOptions {
  readonly slack?: LocalSlackOptions;
  readonly cluster?: LocalClusterOptions;
}

/** An installation to look at: a local Slack, and a local cluster with the shipped roles and the namespace `shop`. */
export class Bed {
  readonly slack: LocalSlack;
  readonly cluster: LocalCluster;
  readonly #directory = mkdtempSync(join(tmpdir(), 'kdebug-doctor-'));

  private constructor(slack: LocalSlack, cluster: LocalCluster) {
    this.slack = slack;
    this.cluster = cluster;
    cluster.apply(...manifest('base/rbac.yaml'));
    cluster.addNamespace('shop');
  }

  static async open({ slack, cluster }: BedOptions = {}): Promise<Bed> {
    return new Bed(await startLocalSlack(slack), await startLocalCluster({ kubeletDelayMs: 0, ...cluster }));
  }

  /** The shipped RoleBinding of one namespace. */
  bind(namespace: string): void {
    for (const object of manifest('components/namespaces/role-binding.yaml'))
      this.cluster.apply({ ...object, metadata: { ...object.metadata, namespace } });
  }

  /** Runs the doctor with a policy (its text) and further variables and words. */
  async ask(policy: string, variables: NodeJS.ProcessEnv = {}, words: readonly string[] = []): Promise<Said> {
    const [policyPath, kubeconfig] = [join(this.#directory, 'policy.yaml'), join(this.#directory, 'kubeconfig')];
    writeFileSync(policyPath, policy);
    writeFileSync(kubeconfig, this.#kubeconfig(), { mode: 0o600 });
    const env = {
      SLACK_BOT_TOKEN: this.slack.botToken,
      SLACK_APP_TOKEN: this.slack.appToken,
      SLACK_API_URL: this.slack.apiUrl,
      KDEBUG_KEY: Buffer.alloc(32, 7).toString('base64'),
      KDEBUG_POLICY: policyPath,
      KUBECONFIG: kubeconfig,
      PORT: '0',
      OPS_PORT: '0',
      ...variables,
    };
    const lines: string[] = [];
    const call = {
      variables: env,
      out: (line: string) => void lines.push(line),
      tool: (name: string) => `npm run ${name} --`,
    };
    const exitCode = await doctor({ ...call, words: [...words, '--json'] });
    const { checks } = JSON.parse(lines.join('\n')) as { checks: readonly Check[] };
    const text = lines.join('\n');
    return {
      exitCode,
      text,
      checks,
      check(area, what) {
        const is = (name: string): boolean => (typeof what === 'string' ? name === what : what.test(name));
        const [found, ...more] = checks.filter((one) => one.area === area && is(one.what));
        if (found === undefined || more.length > 0) throw new Error(`${area} ${String(what)}: ${text}`);
        return found;
      },
    };
  }

  #kubeconfig(): string {
    const config = new KubeConfig();
    config.loadFromString(this.cluster.kubeconfigForServiceAccount('kdebug', 'kdebug'));
    config.contexts = config.contexts.map((context) => ({ ...context, name: 'bed' }));
    config.setCurrentContext('bed');
    return config.exportConfig();
  }

  async close(): Promise<void> {
    await Promise.all([this.slack.stop(), this.cluster.stop()]);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

export interface PolicyParts {
  readonly identity?: string;
  /** Further settings of each channel, by its id. */
  readonly channels?: Readonly<Record<string, string>>;
  readonly approvers?: string;
  readonly namespaces?: string;
  readonly profiles?: string;
  readonly image?: string;
  readonly alerts?: string;
}

/** A policy of one cluster, whose channels have the same rule. */
export function policyOf({
  identity = '{ mode: serviceAccount }',
  channels = { C0SHOP: 'name: "#shop-oncall"' },
  approvers = '{}',
  namespaces = '[shop]',
  profiles = '[restricted, baseline, general]',
  image = 'ghcr.io/acme/kdebug-autodiagnose:0.3.0',
  alerts = '{}',
}: PolicyParts = {}): string {
  const rule = `{ id: look, clusters: [main], namespaces: ${namespaces}, classes: [observe], profiles: ${profiles} }`;
  const entries = Object.entries(channels).map(([id, settings]) => `  ${id}: { ${settings}, rules: [${rule}] }`);
  return `version: 1
clusters: { main: { context: bed, default: true } }
identity: ${identity}
approvers: ${approvers}
images: { autodiagnose: { image: "${image}", class: observe, diagnostic: true } }
defaultImage: autodiagnose
channels:
${entries.join('\n')}
alerts: ${alerts}
`;
}
