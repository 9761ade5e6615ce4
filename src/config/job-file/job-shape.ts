import { z } from 'zod';
import {
  isCatalogueName,
  isDnsLabel,
  isDnsSubdomain,
  isEnvName,
  parseImageReference,
} from '../../core/container/names.ts';
import { JOB_API_VERSION, LABEL_OPERATORS } from '../../core/job/ephemeral-job.ts';
import { profileOfContext } from '../../core/job/job-request.ts';

/** EphemeralJob's own limit (proposal, "API Definition"). */
const MAX_PARALLELISM = 10;
const MAX_INT32 = 2_147_483_647;
/** Seven days, as for `--ttl`. */
const MAX_TTL_SECONDS = 604_800;
const MAX_CONTAINERS = 10;

const words = (test: (text: string) => boolean, message: string) => z.string().refine(test, { error: message });
const from1 = (most: number) => {
  const error = `must be a whole number from 1 to ${most}`;
  return z.int({ error }).min(1, { error }).max(most, { error });
};

const NAME = 'must be lower-case letters, digits and hyphens, at most 63';
const label = words(isDnsLabel, NAME);

const Variable = z.strictObject({
  name: words(isEnvName, 'cannot be the name of a variable').refine((name) => !/^KDEBUG_/i.test(name), {
    error: 'names that begin with KDEBUG_ belong to kdebug itself',
  }),
  value: z.string().default(''),
});

const capabilities = z.array(z.string()).max(50);
const SecurityContext = z
  .strictObject({
    privileged: z.boolean().exactOptional(),
    runAsNonRoot: z.boolean().exactOptional(),
    allowPrivilegeEscalation: z.boolean().exactOptional(),
    capabilities: z
      .strictObject({ add: capabilities.exactOptional(), drop: capabilities.exactOptional() })
      .exactOptional(),
    seccompProfile: z.strictObject({ type: z.string() }).exactOptional(),
  })
  .refine((context) => profileOfContext(context) !== undefined, {
    error: 'is not exactly what one of the profiles general, restricted, netadmin or sysadmin sets; leave it out',
    // An unknown field already has its own message.
    when: ({ issues }) => issues.length === 0,
  });

const Container = z.strictObject({
  name: label,
  image: words(
    (image) => isCatalogueName(image) || parseImageReference(image) !== undefined,
    'is neither an alias nor an image reference',
  ),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).exactOptional(),
  targetContainerName: label.exactOptional(),
  command: z.array(z.string()).exactOptional(),
  args: z.array(z.string()).exactOptional(),
  env: z.array(Variable).exactOptional(),
  terminationMessagePolicy: z.enum(['File', 'FallbackToLogsOnError']).exactOptional(),
  securityContext: SecurityContext.exactOptional(),
  stdin: z.boolean().exactOptional(),
  stdinOnce: z.boolean().exactOptional(),
  tty: z.boolean().exactOptional(),
});

const Requirement = z
  .strictObject({
    key: z.string(),
    operator: z.enum(LABEL_OPERATORS),
    values: z.array(z.string()).exactOptional(),
  })
  .refine(({ operator, values = [] }) => operator.endsWith('In') === values.length > 0, {
    error: 'In and NotIn take values, Exists and DoesNotExist none',
  });

/**
 * An EphemeralJob as kdebug reads it. Strict: an unlisted field is an error. The proposal requires five fields of a
 * container; here only name and image are required, the other three have their API defaults (KEP-277).
 */
export const JobShape = z.strictObject({
  apiVersion: z.literal(JOB_API_VERSION),
  kind: z.literal('EphemeralJob'),
  metadata: z.strictObject({
    name: words(isDnsSubdomain, 'must be lower-case letters, digits, hyphens and dots, at most 253'),
    namespace: label.exactOptional(),
    labels: z.record(z.string(), z.string()).exactOptional(),
    annotations: z.record(z.string(), z.string()).exactOptional(),
  }),
  spec: z.strictObject({
    selector: z.strictObject({
      matchLabels: z.record(z.string(), z.string()).exactOptional(),
      matchExpressions: z.array(Requirement).exactOptional(),
    }),
    replicas: from1(MAX_INT32).exactOptional(),
    parallelism: from1(MAX_PARALLELISM).exactOptional(),
    paused: z.boolean().exactOptional(),
    ttlSecondsAfterCreated: from1(MAX_TTL_SECONDS).exactOptional(),
    template: z.strictObject({ ephemeralContainers: z.array(Container).min(1).max(MAX_CONTAINERS) }),
  }),
});

/** Fields that such files often have, and why kdebug refuses them. */
export const REFUSED: Readonly<Record<string, string>> = {
  ttlSecondsAfterFinished: "is Kruise's own: kdebug leaves no object to clean up; use ttlSecondsAfterCreated",
  activeDeadlineSeconds: "is Kruise's own; use ttlSecondsAfterCreated",
  status: 'is written by a controller; leave it out',
  creationTimestamp: 'is written by the API server; leave it out',
  generation: 'is written by the API server; leave it out',
  managedFields: 'is written by the API server; leave it out',
  resourceVersion: 'is written by the API server; leave it out',
  uid: 'is written by the API server; leave it out',
  ports: 'is not allowed in an ephemeral container (KEP-277)',
  livenessProbe: 'is not allowed in an ephemeral container (KEP-277)',
  readinessProbe: 'is not allowed in an ephemeral container (KEP-277)',
  startupProbe: 'is not allowed in an ephemeral container (KEP-277)',
  lifecycle: 'is not allowed in an ephemeral container (KEP-277)',
  resources: 'is not allowed in an ephemeral container (KEP-277)',
  volumeMounts: 'is not sent by kdebug: it would open the pod’s volumes to the tool',
  volumeDevices: 'is not sent by kdebug: it would open the pod’s volumes to the tool',
  envFrom: 'is not sent by kdebug: it would read ConfigMaps and Secrets; use env with values',
  valueFrom: 'is not sent by kdebug: it would read ConfigMaps and Secrets; use value',
  workingDir: 'is not sent by kdebug; begin the command with cd, in a shell',
  terminationMessagePath: 'is not sent by kdebug; the default is read',
  runAsUser: 'is chosen by kdebug (profile auto); leave it out',
  runAsGroup: 'is chosen by kdebug (profile auto); leave it out',
};
