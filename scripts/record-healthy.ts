import { readFileSync } from 'node:fs';
import { Target } from '../play/test/cluster/recorded/target.ts';
import { Looks } from '../test/cluster/autodiagnose-looks.ts';
import { healthyPrograms } from '../test/cluster/testbed/states.ts';
import { recordHealthy } from '../test/healthy/record.ts';

/**
 * Starts the healthy programs of images/testbed/ on the real cluster that `KUBECONFIG` names, each in a namespace of its
 * own, and writes what its API and a look say at each age to test/healthy/recorded/. It needs their images and
 * localhost/autodiagnose:1, and the rights of an administrator; it removes its namespaces. Two minutes for each three.
 *
 * Usage: KUBECONFIG=… tsx scripts/record-healthy.ts [PROGRAM…]
 */
const AT_ONCE = Number(process.env.AT_ONCE ?? 3);

const kubeconfig = process.env.KUBECONFIG;
if (!kubeconfig) {
  console.error('record-healthy: needs KUBECONFIG');
  process.exit(2);
}
const target = new Target(kubeconfig);
const looks = new Looks(readFileSync(kubeconfig, 'utf8'));
const waiting = process.argv.length > 2 ? process.argv.slice(2) : [...healthyPrograms()];

async function work(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    try {
      console.log(`${name}: ${await recordHealthy(target, looks, name)}`);
    } catch (error) {
      console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    }
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work));
target.close();
