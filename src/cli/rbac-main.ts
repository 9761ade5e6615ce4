import { rbac } from './rbac.ts';

process.exitCode = rbac(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
});
