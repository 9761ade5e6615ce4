import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { tellOnceMore } from '../e2e/once-more.ts';

const path = process.env.KUBECONFIG;
if (path === undefined) throw new Error('KUBECONFIG names no cluster: set it to the kubeconfig of a test cluster');
const kubeconfig = readFileSync(path, 'utf8');
const config = new KubeConfig();
config.loadFromString(kubeconfig);

tellOnceMore(
  () => Promise.resolve({ kubeconfig, context: config.getCurrentContext(), transport: 'socket', longLogs: [] }),
  () => Promise.resolve(),
  { hasControllers: true },
);
