import { createRequire } from 'node:module';
import { cruise, type IConfiguration } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { type Generated, withPart } from './generated.ts';

const { options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as IConfiguration;

/** Each adapter is one node, everything else is one by its folder: finer, and nobody can read it. */
const COLLAPSE = '^src/adapters/[^/]+|^src/(core|flow|config|cli|lib)';

/** The graph of src/ as it is, in docs/architecture.md. */
export const architectureGraph: Generated = {
  path: 'docs/architecture.md',
  async text(current) {
    const { output } = await cruise(
      ['src'],
      { ...options, includeOnly: '^src/', collapse: COLLAPSE, outputType: 'mermaid' },
      {},
      { tsConfig: extractTSConfig('tsconfig.json') },
    );
    if (typeof output !== 'string') throw new Error('expected a graph');
    return withPart(current, 'graph', ['```mermaid', output.trim(), '```'].join('\n'));
  },
};
