import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A Kubernetes object; what a test does not compare has no name here. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** A program that `.ci/tools` installs; undefined, with a line that says so, where it is absent. */
export function tool(name: string): string | undefined {
  const path = join(process.env.KDEBUG_TOOLS ?? join(homedir(), '.cache/kdebug-tools'), name);
  if (existsSync(path)) return path;
  console.warn(`skipped: there is no ${name} here (.ci/tools installs it)`);
  return undefined;
}

export const run = (program: string, args: readonly string[], input?: string): string =>
  execFileSync(program, args, {
    encoding: 'utf8',
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(input ? { input } : {}),
  });

const known = new Map<string, string>();

/** What `make` returns, made once a test file: a busy machine needs seconds to start a program. */
export function once(key: string, make: () => string): string {
  const made = known.get(key) ?? make();
  known.set(key, made);
  return made;
}

/** What kubectl makes of a folder; undefined where there is no kubectl. */
export function kustomize(folder: string): string | undefined {
  try {
    return once(folder, () => run('kubectl', ['kustomize', folder]));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    console.warn('skipped: there is no kubectl here');
    return undefined;
  }
}

/** What kubectl makes of the base with these parts, as an operator would combine them. */
export function combined(parts: { readonly resources?: readonly string[]; readonly components?: readonly string[] }) {
  const folder = mkdtempSync(join(tmpdir(), 'kdebug-kustomize-'));
  const at = (name: string) => join(relative(folder, ROOT), 'manifests', name);
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: ['base', ...(parts.resources ?? []).map((name) => `components/${name}`)].map(at),
    components: (parts.components ?? []).map((name) => at(`components/${name}`)),
  };
  try {
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    return kustomize(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What kubectl makes of a reader's copy of an installation, with these patches more, and of manifests/components/doctor beside it. */
export function withDoctor(installation: string, ...patches: readonly object[]) {
  const folder = mkdtempSync(join(tmpdir(), 'kdebug-doctor-'));
  const ours = join(folder, 'installations/ours');
  const path = join(ours, 'kustomization.yaml');
  try {
    cpSync(join(ROOT, 'manifests'), folder, { recursive: true });
    cpSync(join(folder, 'installations', installation), ours, { recursive: true });
    const mine = parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...mine, patches: [...(mine.patches ?? []), ...patches] }));
    return { installed: kustomize(ours), doctor: kustomize(join(folder, 'components/doctor')) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const objectsOf = (yaml: string): readonly Manifest[] =>
  parseAllDocuments(yaml)
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);

/** Why kubeconform refuses the objects, by the schemas of a real cluster (scripts/record-schemas.ts); empty: it does not. */
export function schemaProblems(kubeconform: string, yaml: string): readonly string[] {
  const schemas = mkdtempSync(join(tmpdir(), 'kdebug-schemas-'));
  try {
    const lines = readFileSync(join(ROOT, 'test/fixtures/kubernetes-schemas.ndjson'), 'utf8').trimEnd().split('\n');
    for (const line of lines) {
      const { name, schema } = JSON.parse(line) as { name: string; schema: unknown };
      writeFileSync(join(schemas, `${name}.json`), JSON.stringify(schema));
    }
    const location = join(schemas, '{{ .ResourceKind }}{{ .KindSuffix }}.json');
    // These two are not Kubernetes' own.
    const skipped = 'ServiceMonitor,PrometheusRule';
    run(kubeconform, ['-strict', '-skip', skipped, '-schema-location', location, '-'], yaml);
    return [];
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? error)
      .trimEnd()
      .split('\n');
  } finally {
    rmSync(schemas, { recursive: true });
  }
}
