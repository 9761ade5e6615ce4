import { explain } from './explain.ts';

process.exitCode = explain(process.argv.slice(2), (line) => console.log(line));
