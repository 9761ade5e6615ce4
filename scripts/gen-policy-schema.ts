import { policyJsonSchema } from '../src/config/schema-findings.ts';
import type { Generated } from './generated.ts';

/** The JSON Schema of the policy file, for editors. */
export const policySchema: Generated = {
  path: 'schema/policy.schema.json',
  text: () => `${JSON.stringify(policyJsonSchema(), null, 2)}\n`,
};
