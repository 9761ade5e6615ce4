import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { policyJsonSchema } from '../../src/config/schema-findings.ts';

it('the schema file in the repository is the generated one', () => {
  const file = readFileSync(new URL('../../schema/policy.schema.json', import.meta.url), 'utf8');
  expect(file, 'run: npm run gen').toBe(`${JSON.stringify(policyJsonSchema(), null, 2)}\n`);
});

it('it describes the file as it is written: closed, with durations as text and defaults', () => {
  expect(policyJsonSchema()).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    additionalProperties: false,
    required: ['version', 'clusters', 'identity'],
    properties: {
      limits: { additionalProperties: false, properties: { maxTimeout: { type: 'string', default: '30m' } } },
      channels: { propertyNames: { pattern: '^(?:[CG][A-Z0-9]{2,20}|direct)$' } },
    },
  });
});
