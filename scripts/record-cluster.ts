import { writeFileSync } from 'node:fs';
import { at, parse } from '../play/test/cluster/recorded/json.ts';
import { playAll } from '../play/test/cluster/recorded/play.ts';
import { recordingText } from '../play/test/cluster/recorded/recording.ts';
import { UNFINISHED } from '../play/test/cluster/recorded/run.ts';
import { SCENARIOS } from '../play/test/cluster/recorded/scenarios/all.ts';
import { kubectlVersion, Target } from '../play/test/cluster/recorded/target.ts';

/**
 * Plays the scenarios against the real cluster that `KUBECONFIG` names and writes what it answered, for
 * play/test/cluster/recorded/recorded.test.ts to compare the local cluster with. It needs a cluster of one node with the
 * images localhost/busybox:1 and localhost/distroless:1, and the rights of an administrator; it makes namespaces
 * `recorded-…` and removes them.
 *
 * Usage: KUBECONFIG=… tsx scripts/record-cluster.ts [FILE [SCENARIO…]]
 */
const [file = 'play/test/cluster/recorded/answers.ndjson', ...only] = process.argv.slice(2);
const kubeconfig = process.env.KUBECONFIG;
if (!kubeconfig || !kubectlVersion) {
  console.error('record-cluster: needs KUBECONFIG and kubectl');
  process.exit(2);
}

const target = new Target(kubeconfig);
const node = at(parse((await target.api('GET', '/api/v1/nodes')).text), 'items', 0);
const info = {
  node: String(at(node, 'metadata', 'name')),
  runtime: String(at(node, 'status', 'nodeInfo', 'containerRuntimeVersion')),
};
const server = String(at(parse((await target.api('GET', '/version')).text), 'gitVersion'));
const scenarios = SCENARIOS.filter(({ name }) => only.length === 0 || only.includes(name));
const answers = await playAll(scenarios, { target, names: { node: info.node }, patienceMs: 60_000 }, 6);
for (const [scenario, { [UNFINISHED]: unfinished }] of Object.entries(answers)) {
  if (!unfinished) continue;
  console.error(`${scenario}: ${unfinished.why}`);
  process.exitCode = 1;
}
const recorded = {
  date: new Date().toISOString().slice(0, 10),
  server,
  kubectl: kubectlVersion,
  runtime: info.runtime,
};
writeFileSync(file, recordingText({ recorded, answers }));
target.close();
console.log(`${file}: ${scenarios.length} scenarios, ${server}, kubectl ${kubectlVersion}, ${info.runtime}`);
