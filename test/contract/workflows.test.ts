import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runTool } from '../monitoring/tools.ts';
import { ROOT, tool } from './rendered.ts';
import { readProjectFile } from './source-tree.ts';

interface Job {
  readonly strategy?: { readonly matrix?: { readonly include?: readonly Readonly<Record<string, string>>[] } };
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly uses?: string;
  readonly container?: string;
  readonly steps?: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly with?: Record<string, unknown>;
    readonly if?: string;
    readonly env?: Readonly<Record<string, string>>;
  }[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const names = readdirSync(`${ROOT}/.github/workflows`);
const workflow = (name: string): Workflow => parse(readProjectFile(`.github/workflows/${name}`));

describe.each(names)('the workflow %s', (name) => {
  const { on, permissions, jobs } = workflow(name);
  const text = readProjectFile(`.github/workflows/${name}`);
  const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);

  it('takes everything that is not ours by digest, with the version beside it', () => {
    const foreign = [...text.matchAll(/uses: (\S+)(.*)$/gm)].filter(([, used = '']) => !used.startsWith('./'));
    expect(foreign.length).toBeGreaterThan(0);
    for (const [line] of foreign) expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    for (const { container } of Object.values(jobs)) expect(container ?? '@sha256:').toContain('@sha256:');
  });

  it('may read, and more only in the jobs that need it', () => {
    expect(permissions).toEqual({ contents: 'read' });
    // With secrets, for a change of a stranger.
    expect(Object.keys(on)).not.toContain('pull_request_target');
  });

  it('leaves no token in the checkout, and no job without an end', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const { with: inputs } of checkouts) expect(inputs).toMatchObject({ 'persist-credentials': false });
    for (const job of Object.values(jobs)) expect(job.uses ?? job['timeout-minutes']).toBeDefined();
  });

  it('puts no value into a script but by its environment', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
  });

  it.skipIf(tool('actionlint') === undefined)('has nothing that actionlint finds', () => {
    expect(runTool('actionlint', ['-no-color', `.github/workflows/${name}`])).toBe('');
  });
});

describe('the cluster of the checks', () => {
  const { uses = '', with: inputs } =
    workflow('ci.yml').jobs.cluster?.steps?.find((step) => step.uses?.startsWith('helm/kind-action@')) ?? {};
  const cluster = String(inputs?.cluster_name);

  it('has the Kubernetes that everything else is tried on, by digest', () => {
    expect(uses).not.toBe('');
    expect(inputs?.node_image).toMatch(/^kindest\/node:v1\.34\.\d+@sha256:[0-9a-f]{64}$/);
  });

  it('gets its images in the words of the other loader: with their entrypoint, their user, and root as the owner', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kdebug-kind-'));
    const said = join(folder, 'said');
    for (const program of ['docker', 'kind'])
      writeFileSync(
        join(folder, program),
        `#!/bin/bash\nprintf '%s\\n' "$0" "$@" >>'${said}'\n[ "$1" != import ] || tar -tvf - --numeric-owner >>'${said}'\n`,
        { mode: 0o755 },
      );
    mkdirSync(join(folder, 'root'));
    writeFileSync(join(folder, 'root/run'), '', { mode: 0o755 });
    execFileSync(
      join(ROOT, 'test/cluster/kind-load'),
      ['localhost/net:1', join(folder, 'root'), '/net', 'a "b"', '-c'],
      {
        env: { PATH: `${folder}:${process.env.PATH}`, USER_ID: '65532:65532' },
      },
    );
    const words = readFileSync(said, 'utf8');
    rmSync(folder, { recursive: true });
    expect(words).toContain('--change\nUSER 65532:65532\n');
    expect(words).toContain('--change\nENTRYPOINT ["/net","a \\"b\\"","-c"]\n');
    expect(words).toMatch(/-\nlocalhost\/net:1\n/);
    expect(words).toMatch(/ 0\/0 .* \.\/run\n/);
    expect(words).toContain(`kind\nload\ndocker-image\nlocalhost/net:1\n--name\n${cluster}\n`);
  });
});

describe('the release', () => {
  const { jobs } = workflow('release.yml');

  it('publishes only what passed all checks', () => {
    const checks = workflow('ci.yml').jobs;
    expect(checks.run?.steps?.at(-1)?.run).toBe('.ci/run');
    expect(checks.cluster?.steps?.at(-1)?.run).toContain('test:cluster');
    expect(jobs.ci?.uses).toBe('./.github/workflows/ci.yml');
    const needs = (name: string): unknown => (jobs[name] as { needs?: unknown } | undefined)?.needs;
    expect(needs('image')).toContain('ci');
    expect(needs('publish')).toContain('image');
  });

  const built = jobs.image?.strategy?.matrix?.include ?? [];

  it('publishes the bot and every image of the policy, each from a Dockerfile that there is', () => {
    const named = [...readProjectFile('manifests/base/policy.yaml').matchAll(/image: (kdebug-[a-z]+):/g)];
    expect(new Set(built.map(({ name }) => name))).toEqual(new Set(['kdebug', ...named.map(([, name]) => name)]));
    for (const { context = '', file } of built)
      expect(readProjectFile(file ?? join(context, 'Dockerfile'))).toContain('FROM');
  });

  it('gives each image the version of its own label', () => {
    const { run = '' } = jobs.version?.steps?.find(({ run }) => run?.includes('GITHUB_OUTPUT')) ?? {};
    const sed = /sed -n '(.*)' "images\/\$image\/Dockerfile"/.exec(run)?.[1] ?? '';
    for (const { name = '', version = '' } of built.slice(1)) {
      const image = name.replace('kdebug-', '');
      expect(version).toBe(`\${{ needs.version.outputs.${image} }}`);
      const dockerfile = `images/${image}/Dockerfile`;
      const found = execFileSync('sed', ['-n', sed, dockerfile], { cwd: ROOT, encoding: 'utf8' });
      expect(found, dockerfile).toMatch(/^\d+\.\d+\.\d+\n$/);
    }
  });

  it('builds for arm64 only what does not run that platform’s programs', () => {
    for (const { name = '', context = '', file, platforms } of built) {
      const runsThem = /^FROM golang/m.test(readProjectFile(file ?? join(context, 'Dockerfile')));
      expect([name, platforms]).toEqual([name, runsThem ? 'linux/amd64' : 'linux/amd64,linux/arm64']);
    }
  });

  it('signs by digest, and says who built it from what', () => {
    const text = readProjectFile('.github/workflows/release.yml');
    for (const part of ['cosign sign --yes "$IMAGE@$DIGEST"', 'provenance: mode=max']) expect(text).toContain(part);
    expect(text).toContain('sbom-path: kdebug.cdx.json');
  });

  it('takes an image that is in the registry already only with its own signature', () => {
    const steps = jobs.image?.steps ?? [];
    const verify = steps.find(({ run }) => run?.startsWith('cosign verify "$IMAGE@$DIGEST"'));
    expect(verify?.if).toBe("steps.published.outputs.digest != ''");
    expect(verify?.env?.SIGNER).toMatch(/^\^.*release\\\.yml@refs\/tags\/v\[0-9\.\]\+\$$/);
    const installs = steps.find(({ uses }) => uses?.startsWith('sigstore/cosign-installer'));
    expect([installs === undefined, installs?.if]).toEqual([false, undefined]);
  });

  it('writes nowhere but in the two jobs that publish', () => {
    const writing = Object.entries(jobs).filter(([, { permissions }]) =>
      Object.values(permissions ?? {}).includes('write'),
    );
    expect(writing.map(([name]) => name)).toEqual(['image', 'publish']);
  });
});

describe('dependabot', () => {
  const { updates } = parse(readProjectFile('.github/dependabot.yml')) as {
    readonly updates: readonly {
      readonly 'package-ecosystem': string;
      readonly cooldown: unknown;
      readonly ignore?: readonly { readonly 'dependency-name': string; readonly versions?: readonly string[] }[];
    }[];
  };

  it('waits a week with everything', () => {
    expect(updates.map((each) => each['package-ecosystem'])).toEqual(['npm', 'docker', 'gomod', 'github-actions']);
    for (const { cooldown } of updates) expect(cooldown).toEqual({ 'default-days': 7 });
  });

  it('keeps the lines that Node 20 needs, which package.json has now', () => {
    const { dependencies, devDependencies } = JSON.parse(readProjectFile('package.json'));
    const ignored = updates[0]?.ignore ?? [];
    const pinned = ignored.map(({ 'dependency-name': name, versions = [] }) => [name, versions[0] ?? ''] as const);
    // What the decision names.
    const page = readProjectFile('docs/adr/0001-node-floor-and-client-node-1-4.md');
    for (const word of ['client-node', 'undici', 'vitest', 'dependency-cruiser', 'TypeScript']) {
      expect(page).toContain(word);
      expect(pinned.some(([name]) => name.includes(word.toLowerCase()))).toBe(true);
    }
    for (const [name, above] of pinned) {
      const has = numbers({ ...dependencies, ...devDependencies }[name]);
      const limit = numbers(above);
      expect([name, has < limit, limit - has <= 1_000]).toEqual([name, true, true]);
    }
  });
});

/** Major and minor as one number; `>=8` and `~6.42.1` too. */
function numbers(version: string): number {
  const [, major = '0', minor = '0'] = /(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  return Number(major) * 1_000 + Number(minor);
}
