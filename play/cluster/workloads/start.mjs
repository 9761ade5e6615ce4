// Becomes the workload that the pod is named after: so all pods that are recorded have one command and the same files.
import { hostname } from 'node:os';

await import(`./${hostname().replace('shop-', '')}.mjs`);
