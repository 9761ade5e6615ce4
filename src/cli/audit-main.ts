import { audit } from './audit.ts';

process.exitCode = await audit(process.argv.slice(2), process.env, (line) => console.log(line));
