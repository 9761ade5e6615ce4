import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tagOf } from '../../play/app/our-posts.ts';
import { describeMessage, type LocalSlack, startLocalSlack } from '../../play/slack/index.ts';
import { commandsOf } from '../support/documented-commands.ts';
import { CLUSTER, kubectl, ROOT, run } from './support/commands.ts';
import { SLACK_PORT } from './support/pod-network.ts';

const [CHANNEL, NAMESPACE] = ['C0SHOP', 'shop'];
/** One for each diagnosis: an identical one within two minutes is offered the first one's result. */
const PODS = ['web-1', 'web-2', 'web-3', 'web-4'];
const podNamed = (name: string): string => `apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: ${NAMESPACE} }
spec:
  terminationGracePeriodSeconds: 0
  containers: [{ name: app, image: "localhost/busybox:1", imagePullPolicy: IfNotPresent, command: [sleep, "3600"] }]
`;

/** All that differs from a reader's installation: where Slack and the cluster's names are found (support/pod-network.ts). */
const HERE = `
patches:
  - target: { kind: Deployment, name: kdebug }
    patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: { name: kdebug }
      spec:
        template:
          spec:
            dnsPolicy: None
            dnsConfig: { nameservers: [127.0.0.1] }
            containers:
              - name: kdebug
                env:
                  - { name: SLACK_API_URL, value: "http://127.0.0.1:${SLACK_PORT}/api/" }
                  - { name: LOG_LEVEL, value: info }
`;

/** Of the results: this cluster has no DNS, which is a warning. */
const FINE = /nothing found|worth knowing/i;
/** What is done elsewhere (images: build-images.sh; packages), or needs what is not here (a registry, kind, redis-cli, Slack itself). */
const NOT_HERE =
  /^(?:docker|kind|npm ci|export|redis-cli|curl|openssl|npx vitest|npm (?:test|run (?:--silent )?(?:test|bench|sbom|play)))\b|slack\.com\//;
/** Words that stand for the reader's own, the Prometheus Operator's kinds, and a policy with a second cluster. */
const STANDS_FOR = /\b(?:POD|RUN|FILE)\b|^kubectl (?:apply|apply -k|diff|debug)$|servicemonitor|--cluster eu$/;

/** The documents, followed as they are written: with their own kubectl, npm and folders, in a copy of the checkout. */
describe('the documents, followed literally', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-documents-'));
  const ours = join(directory, 'manifests/installations/ours');
  const secrets = join(directory, 'kdebug.env');
  let slack: LocalSlack;
  let before: readonly string[];

  /** Runs one line of a page, while Slack answers; `kubectl diff` says by 1 that there is a difference. */
  const paste = async (text: string): Promise<string> => {
    const key = readKey();
    const env = {
      // Only kubectl of that folder: its `as` would be taken for the assembler by whatever compiles.
      PATH: `${join(directory, 'bin')}:${process.env.PATH}`,
      KUBECONFIG: join(directory, 'kubeconfig'),
      REGISTRY: 'docker.io/library',
      CHANNEL,
      NAMESPACE,
      ...(key === undefined ? {} : { KDEBUG_KEY: key }),
    };
    const isFine = text.startsWith('kubectl diff') ? ' || [ $? -eq 1 ]' : '';
    return run('timeout', ['100', 'bash', '-o', 'pipefail', '-c', text + isFine], { cwd: directory, env });
  };

  const readKey = (): string | undefined => {
    try {
      return /^KDEBUG_KEY=(.+)$/m.exec(readFileSync(secrets, 'utf8'))?.[1];
    } catch {
      return undefined;
    }
  };

  /** Every line of the section's blocks, in order; those within sentences after them. `edit`: what people do with kdebug.env. */
  const follow = async (page: string, section: string, edit = () => {}): Promise<void> => {
    const inSection = commandsOf(page).filter((command) => command.section === section);
    const mine = [...inSection.filter(({ isBlock }) => isBlock), ...inSection.filter(({ isBlock }) => !isBlock)];
    const here = mine.filter(({ text }) => !NOT_HERE.test(text) && !STANDS_FOR.test(text));
    expect(here.length, `${page}: ${section}`).toBeGreaterThan(0);
    for (const { text, line } of here) {
      await pasteFrom(`${page}:${line}`, text);
      if (text.endsWith('> kdebug.env')) edit();
    }
  };

  /** @throws Error that names the line of the page */
  const pasteFrom = (where: string, text: string): Promise<string> =>
    paste(text).catch((thrown: unknown) => {
      throw new Error(`${where}: ${String(thrown)}`);
    });

  /** Ours in the cluster. A suite before this one may have left namespaces that still end. */
  const installed = async (): Promise<string[]> => {
    const names = await paste(
      'kubectl get clusterroles,clusterrolebindings,rolebindings,priorityclasses,namespaces -A -o name',
    );
    return names.split('\n').filter((line) => /\/kdebug/.test(line));
  };

  beforeAll(async () => {
    mkdirSync(join(directory, 'bin'));
    writeFileSync(join(directory, 'bin/kubectl'), `#!/bin/sh\nexec '${join(CLUSTER, 'kubectl')}' "$@"\n`, {
      mode: 0o755,
    });
    cpSync(join(ROOT, 'manifests'), join(directory, 'manifests'), { recursive: true });
    for (const name of ['package.json', 'src', 'node_modules']) symlinkSync(join(ROOT, name), join(directory, name));
    const admin = readFileSync(process.env.KUBECONFIG ?? '', 'utf8');
    writeFileSync(join(directory, 'kubeconfig'), admin);
    // The page's other cluster is this one by another name.
    const said = await paste(
      'kubectl config view -o jsonpath="{.contexts[0].context.cluster} {.contexts[0].context.user}"',
    );
    const [cluster, user] = said.split(' ');
    await paste(`kubectl config set-context eu --cluster=${cluster} --user=${user}`);
    before = (await installed()).filter((name) => name.startsWith('namespace/kdebug-'));
    slack = await startLocalSlack({ port: SLACK_PORT });
    await kubectl(['create', 'namespace', NAMESPACE]);
    await kubectl(['-n', NAMESPACE, 'create', 'serviceaccount', 'default']).catch(() => undefined);
    await kubectl(['apply', '-f', '-'], { input: PODS.map(podNamed).join('---\n') });
  });

  afterAll(async () => {
    await slack?.stop();
    await kubectl(['delete', 'namespace', NAMESPACE, 'kdebug', '--ignore-not-found']);
    rmSync(directory, { recursive: true, force: true });
  });

  /** One command in Slack, and what its result says. */
  const ask = async (text: string): Promise<string> => {
    const results = () =>
      [...slack.state.messages.values()]
        .flatMap((channel) => [...channel.values()])
        .filter((message) => tagOf(slack.state, message)?.kind === 'result');
    const before = results().length;
    const { error } = await slack.deliver.command({ user: 'U0ROY', channel: CHANNEL, text });
    expect(error).toBeUndefined();
    await slack.until(() => results().length > before, 60_000);
    const last = results().at(-1);
    return last ? describeMessage(slack.state, last, { times: false }).join('\n') : '';
  };

  const secretsOfSlack = (): string => `SLACK_BOT_TOKEN=${slack.botToken}\nSLACK_APP_TOKEN=${slack.appToken}\n`;

  it('install.md, step 3, makes an installation', async () => {
    await follow('docs/install.md', '3. Your installation (one minute)');
    appendFileSync(join(ours, 'kustomization.yaml'), HERE);
  });

  it('install.md, steps 4 and 5, install it', async () => {
    writeFileSync(secrets, secretsOfSlack(), { mode: 0o600 });
    await follow('docs/install.md', '4. The Secret (one minute)');
    await follow('docs/install.md', '5. Apply (one minute)');
  });

  it('install.md, step 6, shows that it runs', async () => {
    await follow('docs/install.md', '6. Look (half a minute)');
    // The Job has the patches of this installation, so it finds Slack where the Deployment does.
    expect(await paste('kubectl -n kdebug logs job/kdebug-doctor')).toContain(' 0 FAIL');
  });

  it('install.md, step 7: the first diagnosis', async () => {
    expect(await ask('web-1')).toMatch(FINE);
    await follow('docs/install.md', '7. The first diagnosis');
    // What the next update finds where Kubernetes put it.
    expect(await paste('kubectl -n shop get pod web-1 -o jsonpath="{.spec.ephemeralContainers[*].name}"')).toMatch(
      /^kdebug-/,
    );
  });

  it.each(['Look how it is', 'Change the policy'])('operations.md: %s', (section) =>
    follow('docs/operations.md', section),
  );

  it('operations.md: Upgrade, with a change, and Roll back', async () => {
    const path = join(ours, 'kustomization.yaml');
    writeFileSync(path, readFileSync(path, 'utf8').replace('value: info', 'value: debug'));
    await follow('docs/operations.md', 'Upgrade');
    expect(await paste('kubectl -n kdebug get deploy kdebug -o yaml')).toContain('value: debug');
    await follow('docs/operations.md', 'Roll back');
    expect(await paste('kubectl -n kdebug get deploy kdebug -o yaml')).not.toContain('value: debug');
    expect(await ask('web-2')).toMatch(FINE);
  });

  it('operations.md: Change a token', async () => {
    const old = secretsOfSlack();
    Object.assign(slack.state.app, { botToken: `${slack.botToken}2`, appToken: `${slack.appToken}2` });
    await follow('docs/operations.md', 'Change a token', () => {
      const lines = readFileSync(secrets, 'utf8').trimEnd().split('\n');
      const kept = lines.filter((line) => !old.includes(line));
      expect(kept.map((line) => line.split('=')[0])).toEqual(['KDEBUG_KEY']);
      writeFileSync(secrets, `${kept.join('\n')}\n${secretsOfSlack()}`);
    });
    expect(await ask('web-3')).toMatch(FINE);
  });

  it('audit.md: the log is intact, and the tool is where the page says', async () => {
    const mine = commandsOf('docs/audit.md').filter(({ text }) => text.includes('kubectl') && !STANDS_FOR.test(text));
    expect(mine.length).toBe(2);
    for (const { text, line } of mine) await pasteFrom(`docs/audit.md:${line}`, text);
  });

  it('operations.md: Change the key', async () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    writeFileSync(secrets, `${secretsOfSlack()}KDEBUG_KEY=${key}\n`);
    await follow('docs/operations.md', 'Change the key');
    expect(await ask('web-4')).toMatch(FINE);
  });

  it.each(['Back up', 'From several replicas to one', 'Hardening', 'Several clusters'])(
    'operations.md: %s',
    async (section) => {
      writeFileSync(join(directory, 'config'), 'a kubeconfig');
      await follow('docs/operations.md', section);
    },
  );

  it('operations.md: Remove, and only what it says stays', async () => {
    await follow('docs/operations.md', 'Remove');
    const left = (await installed()).filter((name) => !before.includes(name));
    // As text, so that the first line of a failure names them.
    expect(left.join(' ')).toBe('');
  });
});
