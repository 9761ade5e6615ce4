import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * sbom.ts: prints the packages of production in package-lock.json as CycloneDX, each with version, licence and hash. Contacts nobody.
 * `npm sbom --omit=dev` alone would leave out whatever a development package needs as well (zod, ws, yaml; seen with npm 11.19), so
 * npm is shown a project that has no development packages and no workspaces, which have nothing else.
 */
interface Project {
  devDependencies?: unknown;
  workspaces?: unknown;
}

interface Lock {
  readonly packages: Record<string, Project & { readonly dev?: boolean; readonly link?: boolean }>;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const withoutDev = ({ devDependencies: _, workspaces: __, ...rest }: Project) => rest;

const lock: Lock = read('package-lock.json');
const packages = Object.entries(lock.packages)
  .filter(([path, { dev, link }]) => path === '' || (path.startsWith('node_modules/') && dev !== true && link !== true))
  .map(([path, each]) => [path, path === '' ? withoutDev(each) : each] as const);

const directory = mkdtempSync(join(tmpdir(), 'kdebug-sbom-'));
try {
  // npm names the whole after its folder.
  const project = join(directory, 'kdebug');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify(withoutDev(read('package.json'))));
  writeFileSync(
    join(project, 'package-lock.json'),
    JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }),
  );
  const words = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  process.stdout.write(execFileSync('npm', words, { cwd: project, encoding: 'utf8' }));
} finally {
  rmSync(directory, { recursive: true });
}
