import { readdirSync, readFileSync } from 'node:fs';
import type { Generated } from './generated.ts';

const SOURCE = 'manifests/components/monitoring';

/**
 * The chart's copy of what the component `monitoring` holds: Helm reads no file outside its chart. After the entries that
 * make the component's own files.
 */
export const chartFiles: readonly Generated[] = readdirSync(SOURCE)
  .filter((name) => name !== 'kustomization.yaml')
  .map((name) => ({
    path: `charts/kdebug/files/monitoring/${name}`,
    text: () => readFileSync(`${SOURCE}/${name}`, 'utf8'),
  }));
