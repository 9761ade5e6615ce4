/**
 * Texts of the container runtime and of the kubelet. They come redacted (`flow/filtered-cluster.ts`), and the caller bounds what it
 * quotes of them.
 */

/** The longest messages of runtimes are far shorter. */
const MAX_MESSAGE = 4096;

/** Who passed the message on, outermost first. None of them says why. */
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
  /^(?:Failed to pull image|failed to pull and unpack image|Back-off pulling image|Error pulling image|failed to copy|failed to do request) "[^"]{1,500}": /,
  /^(?:ErrImagePull|ImagePullBackOff): /,
];
/** A container or a sandbox by its whole id: nobody knows it by that. */
const LONG_ID = /(?:\b(?:container|sandbox|id) )?["']?\b[0-9a-f]{64}\b["']?:?\s?/g;

/**
 * The message of a container that could not start (StartError, ContainerCannotRun, RunContainerError, CreateContainerError) or whose
 * image could not be pulled, so that it begins with its cause: `exec: "wgett": executable file not found in $PATH`, `image
 * nginx:1.99 not found`. A message that it does not know stays, without ids of 64 digits. Linear time; never throws.
 */
export function runtimeMessage(message: string): string {
  const text = message.slice(0, MAX_MESSAGE).trim();
  const cause = withoutPrefixes(text).replace(LONG_ID, '').trim();
  return pullProblem(text) ?? (cause === '' ? text : cause);
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

/** What a registry answered, in the order in which one is looked for: the first names the cause best. */
const PULL_PROBLEMS: readonly (readonly [pattern: RegExp, words: (image: string, match: RegExpExecArray) => string])[] =
  [
    [
      /lookup ([\w.-]{1,253})(?: on \S{1,60})?: (?:no such host|server misbehaving|i\/o timeout)/,
      (image, [, host]) => `image ${image}: the registry ${host} is unknown to DNS`,
    ],
    [
      /x509: ([^\n"]{1,160})/,
      (image, [, why = '']) =>
        `image ${image}: the registry's certificate is not trusted (${why.replace(/[:,]? *$/, '')})`,
    ],
    [/server gave HTTP response to HTTPS client/, (image) => `image ${image}: the registry speaks HTTP, not HTTPS`],
    [
      /connect: connection refused|i\/o timeout|no route to host|context deadline exceeded|Client\.Timeout exceeded/,
      (image) => `image ${image}: the registry does not answer`,
    ],
    [
      /toomanyrequests|429 Too Many Requests|rate limit/i,
      (image) => `image ${image}: the registry refuses more pulls for now (rate limit)`,
    ],
    [
      /no match for platform|no matching manifest for (\S{1,40})|exec format error/,
      (image) => `image ${image}: it does not exist for the node's platform`,
    ],
    [
      /insufficient_scope|pull access denied|requested access to the resource is denied/,
      (image) => `image ${image}: no access, or it does not exist`,
    ],
    [
      /\b(?:401 )?[Uu]nauthorized|authorization failed|authentication required|no basic auth credentials|403 Forbidden|: denied\b/,
      (image) => `image ${image}: the registry refuses the pull (no or wrong credentials)`,
    ],
    [/not found|manifest unknown|name unknown|404 Not Found/, (image) => `image ${image} not found`],
    [/no space left on device/, (image) => `image ${image}: no space left on the node`],
  ];
const IS_PULL =
  /(?:pull(?:ing)?(?: and unpack)? image|resolve reference|pull access denied|resolve image|fetch(?:ing)? manifest|ErrImagePull)/i;
const IMAGE =
  /(?:image|reference|manifest)s? (?:for )?\\?"([^"\\\s]{1,300})\\?"|pull access denied for ([\w./:@-]{1,300})/i;

/** One sentence part with the image's name; undefined: the message is about something else. */
function pullProblem(text: string): string | undefined {
  if (!IS_PULL.test(text)) return undefined;
  const named = IMAGE.exec(text);
  const image = shortImage(named?.[1] ?? named?.[2]?.replace(/[,:.]$/, ''));
  if (image === undefined) return undefined;
  for (const [pattern, words] of PULL_PROBLEMS) {
    const match = pattern.exec(text);
    if (match !== null) return words(image, match);
  }
  return undefined;
}

/** As people write it: without Docker's own host. */
const shortImage = (reference: string | undefined): string | undefined =>
  reference?.replace(/^(?:https?:\/\/)?docker\.io\/(?:library\/)?/, '');
