import { lintPolicy } from './lint-policy.ts';

const [path, ...others] = process.argv.slice(2);
const out = (line: string) => console.log(line);

if (path === undefined || others.length > 0 || path.startsWith('-')) {
  out('usage: lint POLICY-FILE');
  process.exitCode = 2;
} else {
  process.exitCode = lintPolicy(path, out);
}
