/**
 * Texts of the container runtime and of the kubelet. They come redacted (`flow/context/filtered-cluster.ts`), and the caller bounds what it
 * quotes of them.
 */

/** The longest messages of runtimes are far shorter. */
const MAX_MESSAGE = 4096;

/** Programs that passed the message on, outermost first. None of them gives the reason. */
const PREFIXES: readonly RegExp[] = [
  /^(?:Error response from daemon|Error): /,
  /^rpc error: code = \w{1,30} desc = /,
  /^failed to (?:create|start) containerd(?: container)?(?: task)?: /,
  /^failed to (?:create|start) (?:shim )?task(?: for container)?: /,
  /^failed to (?:generate|create|start) (?:container|spec|sandbox)(?: "[^"]{0,200}")?(?: spec)?: (?:failed to generate spec: )?/,
  /^container create failed: /,
  /^OCI runtime (?:create|exec|start) failed: /,
  /^(?:runc|crun|runsc|youki|kata)(?: (?:create|run|start|exec))?(?: failed)?: /,
  /^(?:unable to start|starting|creating) container process(?: caused)?: /,
  /^error during container init: /,
  /^container_linux\.go:\d{1,5}: /,
  /^standard_init_linux\.go:\d{1,5}: /,
  /^process_linux\.go:\d{1,5}: /,
  /^container init caused: /,
];
/** A container or a sandbox by its whole id: nobody knows it by that. */
const LONG_ID = /(?:\b(?:container|sandbox|id) )?["']?\b[0-9a-f]{64}\b["']?:?\s?/g;

/**
 * The message of a container that could not start (StartError, ContainerCannotRun, RunContainerError, CreateContainerError), so that
 * it begins with its cause: `exec: "wgett": executable file not found in $PATH`. A message that it does not know stays, without ids
 * of 64 digits. Linear time; never throws. Of images that cannot be pulled `rules/images.ts` speaks.
 */
export function runtimeMessage(message: string): string {
  const text = message.slice(0, MAX_MESSAGE).trim();
  const cause = withoutPrefixes(text).replace(LONG_ID, '').trim();
  return cause === '' ? text : cause;
}

function withoutPrefixes(text: string): string {
  let rest = text;
  // Each round cuts one prefix at least, and the runtimes nest no deeper.
  for (let round = 0; round < 16; round++) {
    const shorter = PREFIXES.reduce((left, prefix) => left.replace(prefix, ''), rest).trimStart();
    if (shorter === rest) break;
    rest = shorter;
  }
  // runc repeats the reason after the cause.
  return rest.replace(/:\s*unknown$/, '').replace(/^["']([^"']*)["']$/, '$1');
}
