import { Target } from '../play/test/cluster/recorded/target.ts';
import { recordTrouble } from '../test/troubles/record.ts';
import { readTrouble, troubleNames } from '../test/troubles/trouble.ts';

/**
 * Plays the troubles of test/troubles/ on the real cluster that `KUBECONFIG` names, each in a namespace of its own, and
 * writes what its API said of them to test/troubles/NAME/recorded/. It needs a cluster of one node with the images
 * localhost/busybox:1 and localhost/distroless:1, and the rights of an administrator; it removes its namespaces.
 *
 * Usage: KUBECONFIG=… tsx scripts/record-troubles.ts [NAME…]
 */
const AT_ONCE = 5;

const kubeconfig = process.env.KUBECONFIG;
if (!kubeconfig) {
  console.error('record-troubles: needs KUBECONFIG');
  process.exit(2);
}
const target = new Target(kubeconfig);
const names = process.argv.length > 2 ? process.argv.slice(2) : troubleNames();
const waiting = [...names];

async function work(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    try {
      console.log(`${name}: ${await recordTrouble(target, readTrouble(name))}`);
    } catch (error) {
      console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    }
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work));
target.close();
