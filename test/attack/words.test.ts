import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { attack } from './support/attack.ts';
import { SUITE_POLICY } from './support/policy.ts';

/** What `npm run lint-policy` says of a policy, and its exit code. */
async function lint(policy: string): Promise<{ readonly code: number; readonly text: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-lint-'));
  const path = join(directory, 'policy.yaml');
  writeFileSync(path, policy);
  try {
    return await new Promise((resolve) => {
      const words = ['--import', 'tsx', 'src/cli/main.ts', 'lint-policy', path];
      execFile(process.execPath, words, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, text: stdout + stderr }),
      );
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** One rule in one channel, for images that look. */
const ruleOf = (rule: string): string => `version: 1
clusters:
  prod: { context: prod, default: true }
identity: { mode: serviceAccount }
images:
  look: { image: "registry.acme.io/look@sha256:${'ab'.repeat(32)}", class: observe }
  busybox: { image: "registry.acme.io/busybox@sha256:${'cd'.repeat(32)}", class: observe, command: allowed }
channels:
  C0SHOP: { name: "#shop-oncall", rules: [ ${rule} ] }
`;

attack(18, 'lint-policy says what observe with sysadmin and a beginning of names gives away', async () => {
  const wide = `{ id: wide, clusters: [prod], namespaces: ["s*"], classes: [observe], profiles: [restricted, general, sysadmin] }`;
  const { text } = await lint(ruleOf(wide));
  expect(text).toContain('wide');
  expect(text).toContain('sysadmin');
});

attack(
  21,
  'no policy gives a tracer a second, harmless name, calls it observing, or has an alert start it',
  async () => {
    const problemsOf = async (image: string, more = ''): Promise<string> => {
      const images = `images:\n  tracer: { image: "registry.acme.io/tracer:1", ${image} }\n  other: { image: "registry.acme.io/tracer:1", class: intrusive, traces: true }\n`;
      const alerts =
        more && `alerts:\n  shop: { source: alertmanager, secretEnv: ALERTS_SECRET, channel: C0SHOP, ${more} }\n`;
      const { code, text } = await lint(SUITE_POLICY.replace('images:\n', images) + alerts);
      expect(code).not.toBe(0);
      return text;
    };
    const TRACER = 'class: intrusive, traces: true, diagnostic: true';
    expect(await problemsOf('class: intrusive')).toContain('images.tracer.image: is also the image of other');
    expect(await problemsOf('class: observe, traces: true')).toContain('images.tracer.traces: excludes class: observe');
    expect(await problemsOf(TRACER, 'image: tracer')).toContain('alerts.shop: needs an image of class observe');
    expect(await problemsOf(TRACER), 'the control').not.toContain('tracer');
  },
);

attack(18, 'lint-policy says what a free command with general gives away', async () => {
  const free = `{ id: free, clusters: [prod], namespaces: [shop], classes: [observe, intrusive], profiles: [restricted, general] }`;
  const { text } = await lint(ruleOf(free));
  expect(text).toContain('free');
  // What is read, and by whom, in whatever words.
  expect(text).toMatch(/environment|token|secret/i);
  expect(text).toMatch(/anyone|anybody|everyone|everybody|C0SHOP|#shop-oncall/i);
});

attack(
  7,
  'by the shipped policy nobody gets a free command that sees its target without an approval',
  async ({ open, nothingLaunched }) => {
    const shipped = readFileSync('manifests/base/policy.yaml', 'utf8');
    const here = shipped.replace('inCluster: true', 'context: local').replaceAll('C0REPLACEME', 'C0SHOP');
    const world = await open({ policy: here });
    const [pod, diagnosed] = [await world.pod('web-1'), await world.pod('web-2')];
    // The policy is in force: what it ships for is started.
    await world.slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: `${diagnosed} --image=autodiagnose` });
    await expect.poll(() => world.containersOf(diagnosed).length, { timeout: 10_000 }).toBe(1);
    for (const image of [...here.matchAll(/^ {2}([a-z-]+):\n {4}image:/gm)].map(([, alias]) => alias))
      await world.ask(`${pod} --image=${image} --profile=general -- cat /proc/1/environ`);
    nothingLaunched(world, pod);
  },
);

const job = (env: string): string => `apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata: { name: twice }
spec:
  selector: { matchLabels: { app: web-1 } }
  template:
    ephemeralContainers:
      - name: look
        image: debian:12-slim
        command: [env]
        env: ${env}
`;

attack(
  20,
  'an EphemeralJob that sets one variable twice is refused, and the variable named',
  async ({ open, nothingLaunched }) => {
    const world = await open();
    const [pod, other] = [await world.pod('web-1'), await world.pod('web-2')];
    const apply = (text: string) => world.askApproved(`apply -n shop\n\`\`\`\n${text}\`\`\``, { channel: 'C0OPS' });
    const once = job('[{ name: DEPTH, value: a }, { name: WIDTH, value: b }]').replace('web-1', other);
    await apply(once);
    await expect.poll(() => world.containersOf(other).length, { timeout: 10_000, message: 'the control' }).toBe(1);
    const told = await apply(job('[{ name: DEPTH, value: a }, { name: DEPTH, value: b }]'));
    nothingLaunched(world, pod);
    expect(told).toContain('DEPTH');
  },
);

attack(15, 'lint-policy refuses what the start refuses', async () => {
  const { code, text } = await lint(SUITE_POLICY.replace('redact: []', 'redact: ["(?=a)a+$"]'));
  expect(text).toContain('redact');
  expect(code).not.toBe(0);
});
