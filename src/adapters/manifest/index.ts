export { parseEphemeralJob } from './parse-job.ts';
export { exportYaml } from './print-job.ts';
