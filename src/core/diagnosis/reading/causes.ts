import { cleanWords } from './phrases.ts';

/** A well-known cause in a line of a log. */
export interface KnownCause {
  /** The cause, with the names of the line: `db:5432 refuses connections`. */
  readonly says: string;
  /** One sentence on what to do. */
  readonly next: string;
  /** Codes of what a look measures that such a line gives the cause of. */
  readonly explains?: readonly string[];
}

interface Known extends Omit<KnownCause, 'says'> {
  /** Each with the groups that `says` uses; the first match counts. */
  readonly patterns: readonly RegExp[];
  readonly says: (found: Readonly<Record<string, string | undefined>>) => string;
}

/** `db:5432`, of groups `host` and `port`. */
const endpoint = ({ host, port }: Readonly<Record<string, string | undefined>>, otherwise: string): string =>
  host === undefined
    ? port === undefined
      ? otherwise
      : `port ${port}`
    : port === undefined
      ? host
      : `${host}:${port}`;

const HOST = String.raw`(?<host>[\w.-]{1,200}|\[[0-9a-f:]{2,45}\])`;
const PORT = String.raw`(?<port>\d{1,5})`;
const at = (source: string): RegExp => new RegExp(source.replaceAll('<HOST>', HOST).replaceAll('<PORT>', PORT), 'i');

/** The most telling first. All patterns are bounded and linear enough for a line of 300 characters. */
const KNOWN: readonly Known[] = [
  {
    // Each line of such a script ends with a character that the shell takes for a part of the word.
    patterns: [
      /\bset: (?:line \d{1,6}: )?illegal option -\r?$/i,
      /\$'[^']{0,80}\\r': command not found|\^M: bad interpreter/,
    ],
    says: () => 'a script has Windows line ends',
    next: 'Save the script with Unix line ends (LF); a ConfigMap made of a file with CRLF keeps them.',
  },
  {
    patterns: [
      /(?<resource>[\w.-]{1,100})(?: "[^"]{1,200}")? is forbidden: User "system:serviceaccount:(?<namespace>[^":]{1,63}):(?<account>[^"]{1,253})" cannot (?<verb>\w{1,20}) resource "(?<kind>[^"]{1,100})"/,
    ],
    says: ({ namespace, account, verb, kind }) =>
      `the ServiceAccount ${account} in ${namespace} may not ${verb} ${kind}`,
    next: 'Give this ServiceAccount a Role and a RoleBinding with that verb and resource, or set the right serviceAccountName.',
  },
  {
    // Kubernetes leaves a reference as it is where env does not define the variable before, and so does whoever knows no such reference.
    patterns: [/^(?!.*(?:[Ss]yntax error|\bline \d{1,6}: `)).*(?<!\$)\$\((?<name>[A-Z][A-Z0-9_]{1,60})\)/],
    says: ({ name }) => `$(${name}) was not replaced by a value`,
    next: 'Define that variable in env of the container, above the one that refers to it; Kubernetes replaces it in command, args and env alone.',
  },
  {
    patterns: [
      /certificate has expired(?! or is not yet valid.{0,80} is before)|certificate (?:is )?expired|CertificateExpired|CERT_HAS_EXPIRED/i,
    ],
    says: () => 'a certificate has expired',
    next: 'Renew that certificate (mostly a Secret of type kubernetes.io/tls), and find out why its renewal failed.',
  },
  {
    patterns: [
      /certificate is (?:not )?valid for .{1,80}, not (?<name>[\w.*-]{1,200})/i,
      /certificate is not valid for (?:any names|the name|host(?:name)?|['"]?(?<name>[\w.*-]{1,200}))/i,
      /(?:certificate for|hostname|Host: ) ?<?['"]?(?<name>[\w-][\w.-]{2,200})['"]?>?\.? (?:doesn't|does not|is not in the cert's altnames)/i,
      /altnames?\b.{0,40}Host: (?<name>[\w.-]{1,200}?)\.? is not/i,
      /No subject alternative (?:DNS )?names? (?:matching (?:DNS name |IP address )?(?<name>[\w.-]{1,200}) found|present)|ERR_TLS_CERT_ALTNAME_INVALID|IP address mismatch|Hostname mismatch/i,
    ],
    says: ({ name }) =>
      `a certificate is for another host name${name === undefined ? '' : `, not for ${name.replace(/\.$/, '')}`}`,
    next: 'Call the server by a name that its certificate has, or give it a certificate with that name.',
  },
  {
    patterns: [
      /x509: certificate signed by unknown authority|self[- ]signed certificate|unable to get (?:local )?issuer certificate|PKIX path building failed|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERTIFICATE_VERIFY_FAILED/i,
    ],
    says: () => 'a certificate comes from an authority that the program does not trust',
    next: 'Give the program the certificate of that authority, or the server one from an authority that it trusts.',
  },
  {
    patterns: [
      /lookup (?<host>[\w.-]{1,200})(?: on [^:]{1,60}:\d{1,5})?:.{0,120}(?:i\/o timeout|connection refused|no route to host)/i,
      /(?<host>[\w.-]{1,200}): (?:DNS (?:lookup )?timeout|DNS operation timed out)/i,
    ],
    says: ({ host }) => `the cluster’s DNS does not answer (asked for ${host})`,
    next: 'Whoever runs the cluster should look at its DNS (CoreDNS); a network policy may also keep this pod from it.',
  },
  {
    patterns: [
      at('lookup <HOST>(?: on [^:]{1,60}:\\d{1,5})?: (?:no such host|server misbehaving)'),
      at('getaddrinfo (?:ENOTFOUND|EAI_AGAIN) <HOST>'),
      at('UnknownHostException: <HOST>'),
      at('could not translate host name "<HOST>"'),
      at('host not found in upstream "<HOST>'),
      at('getaddrinfo for <HOST> failed'),
      at('(?:nodename nor servname|could not resolve host(?:name)?|unknown host|bad address)[: ]+[\'"]?<HOST>'),
      at('[Rr]esolv(?:e|ing) (?:host )?[\'"]?<HOST>[\'"]?.{0,40}(?:Name or service not known|name resolution|failed)'),
      /Name or service not known|Temporary failure in name resolution|Name does not resolve/i,
    ],
    says: (found) => `the name ${endpoint({ host: found.host }, 'of a server')} is not known`,
    next: 'Correct the host name in the settings of the program, or create the Service of that name; a name in another namespace needs the namespace after it.',
  },
  {
    patterns: [
      /remaining connection slots are reserved|too many clients already|Too many connections|QueuePool limit of size|(?:connection )?pool (?:is )?(?:exhausted|timed? ?out|full)|Timeout waiting for (?:an? )?(?:idle )?(?:connection|object)|Connection is not available, request timed out|could not obtain a connection from the pool|Timeout acquiring a connection/i,
    ],
    says: () => 'the pool of connections is exhausted',
    next: 'Look for connections that are not given back, or allow more of them on both sides.',
    explains: ['accept_queue', 'answer_missing'],
  },
  {
    patterns: [
      /password authentication failed for user ["']?(?<user>[\w.@-]{1,63})/i,
      /Access denied for user ['"]?(?<user>[\w.@%-]{1,63})/i,
      /authentication failed|WRONGPASS|NOAUTH Authentication required|invalid (?:username|credentials|password)|Login failed for user/i,
    ],
    says: ({ user }) => `the login${user === undefined ? '' : ` of user ${user}`} is refused`,
    next: 'Compare user and password in the Secret of the program with those of the server.',
  },
  {
    patterns: [
      at('dial (?:tcp|udp)[46]? <HOST>:<PORT>.{0,40}refused'),
      at('ECONNREFUSED <HOST>:<PORT>'),
      at('Connection refused:? (?:[\\w.-]{1,100}\\/)?<HOST>:<PORT>'),
      at('server (?:at|on host) "<HOST>".{0,60}port <PORT> failed: Connection refused'),
      at('refused.{0,60}host "<HOST>".{0,80}port <PORT>'),
      at('Connection to <HOST>:<PORT> refused'),
      at('connect to (?:\\w{1,20} server (?:on|at) )?[\'"]?<HOST>(?::|[\'"]? port )<PORT>.{0,60}(?:refused|\\(111\\))'),
      at('connecting to <HOST>:<PORT>.{0,40}refused'),
      at(
        '(?:https?|tcp|redis|amqp|postgres(?:ql)?|mysql|mongodb):\\/\\/(?:[^@\\s/]{0,100}@)?<HOST>:<PORT>.{0,120}refused',
      ),
      at('<HOST>:<PORT>.{0,60}(?:connection refused|ECONNREFUSED|actively refused)'),
      /connection refused|ECONNREFUSED/i,
    ],
    says: (found) => `${endpoint(found, 'a server that it needs')} refuses connections`,
    next: 'Check that what listens there is up and ready, and that host and port in the settings of the program are right.',
    explains: ['connects_refused', 'peer_refused'],
  },
  {
    patterns: [
      at('dial (?:tcp|udp)[46]? <HOST>:<PORT>: (?:i\\/o timeout|connect: (?:connection timed out|no route to host))'),
      at('(?:ETIMEDOUT|EHOSTUNREACH) <HOST>:<PORT>'),
      at('connect(?:ion|ing)? to <HOST>(?:\\[[^\\]]{1,45}\\])?:<PORT>.{0,40}timed out'),
    ],
    says: (found) => `${endpoint(found, 'a server')} does not answer`,
    next: 'Check that what listens there is up, and that no network policy keeps this pod from it.',
    explains: ['syn_sent', 'answer_missing', 'peer_timeout'],
  },
  {
    patterns: [
      /\b(?:code|status|status[ _-]?code|HTTP(?:\/\d(?:\.\d)?)?)["']?[:= ]{1,3}(?<code>401|403)\b/i,
      /AccessDenied(?:Exception)?\b|is not authorized to perform|PERMISSION_DENIED|AuthorizationFailed/,
    ],
    says: ({ code }) => `a request is refused${code === undefined ? '' : ` (${code})`}`,
    next: 'Check who asks there and with which token, and give that account the right.',
  },
  {
    patterns: [/no space left on device|ENOSPC|disk quota exceeded/i],
    says: () => 'no space is left on a disk',
    next: 'Remove what is not needed there, or make the volume (or the ephemeral-storage limit) larger.',
  },
  {
    patterns: [/read-only file ?system|EROFS/i],
    says: () => 'the file system is read-only',
    next: 'Mount a writable volume (emptyDir) where the program writes, or leave out readOnlyRootFilesystem.',
  },
  {
    patterns: [/exec format error/i],
    says: () => 'the program is not for the node’s processor, or is a script without a first line such as #!/bin/sh',
    next: 'Build the image for the architecture of the nodes, or add that first line.',
  },
  {
    patterns: [/^exec (?<program>\/[^\s:]{1,150}): no such file or directory/],
    says: ({ program }) => `the program ${program}, or the shell that its first line names, is not in the image`,
    next: 'Correct the path of the command, or the first line of the script: a shell that the image has, and no Windows line ends.',
  },
  {
    patterns: [/\bis a directory\b|EISDIR/i],
    says: () => 'the program finds a folder where it wants a file',
    next: 'Correct the path; a subPath that is no key of its ConfigMap or Secret makes an empty folder.',
  },
  {
    patterns: [
      /error while loading shared libraries: (?<library>[\w.+-]{1,100})/,
      /Error loading shared library (?<library>[\w.+-]{1,100})/,
    ],
    says: ({ library }) => `the library ${library} is not in the image`,
    next: 'Build the image with the package that has this library.',
  },
  {
    patterns: [/version [`'"](?<version>GLIBC(?:XX)?_[\d.]{1,12})['"`] not found/],
    says: ({ version }) => `the image’s C library is too old: it has no ${version}`,
    next: 'Build the program for the image that it runs in, or use an image with a newer system.',
  },
  {
    patterns: [/UnsupportedClassVersionError|compiled by a more recent version of the Java Runtime/],
    says: () => 'the image’s Java is older than the one that the program was compiled for',
    next: 'Use an image with a newer Java, or compile the program for the Java that the image has.',
  },
  {
    // A number is wanted, and Kubernetes sets NAME_PORT for each Service of the namespace.
    patterns: [
      /(?:invalid|pars|convert|integer|number|port|NaN).{0,80}?(?<link>tcp:\/\/\d{1,3}(?:\.\d{1,3}){3}:\d{1,5})/i,
    ],
    says: ({ link }) => `a variable holds ${link}: Kubernetes sets NAME_PORT for each Service of the namespace`,
    next: 'Set that variable in the manifest, or set enableServiceLinks: false there; a Service of another name helps too.',
  },
  {
    patterns: [
      /pthread_create failed|unable to create native thread|can't start new thread|fork: .{0,30}Resource temporarily unavailable|newosproc.{0,60}Resource temporarily unavailable|failed to create new OS thread/i,
    ],
    says: () => 'the program may start no more threads or processes',
    next: 'Look for what starts threads and never ends them; else raise the limit of process ids of the pod or its node.',
  },
  {
    patterns: [/too many open files|EMFILE/i],
    says: () => 'too many files are open',
    next: 'Look for files and sockets that are never closed.',
  },
  {
    patterns: [
      /java\.lang\.OutOfMemoryError(?:: (?<what>[A-Za-z ]{1,40}))?|JavaScript heap out of memory|cannot allocate memory|std::bad_alloc|(?<!OutOf)MemoryError/i,
    ],
    says: () => 'the program has no memory left',
    next: 'Find what grows, or give it more: the memory limit, and the heap of its runtime below that.',
  },
  {
    patterns: [/address already in use|EADDRINUSE/i],
    says: () => 'its port is in use already',
    next: 'Two programs of the pod listen on the same port: give one of them another.',
  },
  {
    patterns: [
      /(?:bind|listen).{0,60}:(?<port>\d{1,3})\b.{0,40}(?:permission denied|EACCES)/i,
      /(?:permission denied|EACCES).{0,40}:(?<port>\d{1,3})$/i,
    ],
    says: ({ port }) => `the program may not listen on port ${port}, which is below 1024`,
    next: 'Let it listen on a higher port (a Service may still offer the low one), or add the capability NET_BIND_SERVICE.',
  },
  {
    patterns: [/^Killed$|\bline \d{1,6}: {1,8}\d{1,9} Killed\b/],
    says: () => 'a program of the container was killed, very likely for lack of memory',
    next: 'Raise the memory limit above its real need, or find what grows.',
  },
  {
    patterns: [/permission denied|EACCES|operation not permitted|EPERM/i],
    says: () => 'a permission is denied',
    next: 'Let the program’s user read or write that path (fsGroup, the image’s file modes), or give it the right it asks for.',
  },
];

/** The well-known cause that a line names. A line of at most 300 characters; undefined: none. */
export function causeOf(line: string): KnownCause | undefined {
  const text = line.slice(0, 300).replace(/\\(?:n|("))/g, (_, quote = ' ') => quote);
  for (const { patterns, says, ...rest } of KNOWN) {
    const match = patterns.map((pattern) => pattern.exec(text)).find((found) => found !== null);
    if (match) return { says: cleanWords(says(match.groups ?? {}), 120), ...rest };
  }
  return undefined;
}
