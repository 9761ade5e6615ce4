import { audit } from './audit.ts';
import { explain } from './explain.ts';
import { explainAlert } from './explain-alert.ts';
import { lintPolicy } from './lint-policy.ts';
import { rbac } from './rbac.ts';

const [tool, ...words] = process.argv.slice(2);
const out = (line: string) => console.log(line);
const err = (line: string) => console.error(line);

switch (tool) {
  case 'audit':
    process.exitCode = await audit(words, process.env, out);
    break;
  case 'explain':
    process.exitCode = (words.includes('--alert') ? explainAlert : explain)(words, out);
    break;
  case 'lint-policy':
    process.exitCode = lintPolicy(words, out);
    break;
  case 'rbac':
    process.exitCode = rbac(words, { out, err });
    break;
  default:
    err('usage: cli audit | explain | lint-policy | rbac …');
    process.exitCode = 2;
}
