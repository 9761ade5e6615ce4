import { z } from 'zod';
import { PolicyFile } from './policy-file.ts';

/** JSON Schema (draft 2020-12) of the policy file as it is written, for editors and for `schema/policy.schema.json`. */
export const policyJsonSchema = (): Record<string, unknown> => ({
  title: 'kdebug policy',
  ...z.toJSONSchema(PolicyFile, { io: 'input' }),
});
