import { isObject } from '../../lib/object.ts';
import { canonicalJson, sha256 } from '../hash.ts';
import { isReserved, ONCE_MORE_VARIABLE } from './once-more.ts';

/** A core/v1 EphemeralContainer, as sent or as an API server holds it. */
type AnyContainer = Readonly<Record<string, unknown>>;

const objectOf = (value: unknown): AnyContainer => (isObject(value) ? value : {});
const listOf = (value: unknown): readonly AnyContainer[] => (Array.isArray(value) ? value.map(objectOf) : []);

/** A mark (`RunMark`) does not change what a container does. */
const isMark = ({ name }: AnyContainer): boolean => typeof name === 'string' && isReserved(name);

/** The API server omits an empty value. */
const variableOf = ({ name, value = '', ...from }: AnyContainer) => ({ name, value, ...from });

/** Drops what the API server fills in (`SetDefaults_SecurityContext`). */
function contextOf(raw: unknown): AnyContainer {
  const { procMount, ...context } = objectOf(raw);
  return procMount === undefined || procMount === 'Default' ? context : { ...context, procMount };
}

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * A hash of what a container does, equal for the sent container and the API server's copy. Covers every field except
 * its name, the marks of its run and what the server fills in; even one more variable changes it. Of a second run of the
 * pod's own container, only its image and which container that is: the rest is in the pod's spec, which never changes.
 */
export function fingerprintOf(container: object): string {
  const { image, env: variables } = objectOf(container);
  const original = listOf(variables).find(({ name }) => name === ONCE_MORE_VARIABLE)?.value;
  return hashOf(original === undefined ? wholeOf(container) : { image, original });
}

const hashOf = (parts: AnyContainer): string => sha256(canonicalJson(parts)).slice(0, 32);

function wholeOf(container: object): AnyContainer {
  const {
    name: _,
    imagePullPolicy: _pull,
    terminationMessagePath: _path,
    terminationMessagePolicy: _policy,
    ...rest
  } = objectOf(container);
  const env = listOf(rest.env)
    .filter((variable) => !isMark(variable))
    .map(variableOf);
  const whole = { ...rest, env, securityContext: contextOf(rest.securityContext) };
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => !isEmpty(value)));
}

/** The fields that a webhook may add to a security context that does not set them: each only reduces power. */
const HARMLESS: AnyContainer = {
  privileged: false,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a ?? null) === canonicalJson(b ?? null);

/**
 * True if the API server's container does what kdebug sent: image, words, target, every variable and the security
 * context. Webhooks may add variables and reduce power (KEP-277 leaves mutation to them); any other difference means
 * somebody else's container.
 */
export function doesAsSent(sent: object, held: object): boolean {
  const [ours, theirs] = [objectOf(sent), objectOf(held)];
  const fields = ['image', 'command', 'args', 'targetContainerName'] as const;
  return (
    fields.every((field) => isSame(ours[field], theirs[field])) &&
    listOf(ours.env).every((variable) => isHeld(variable, listOf(theirs.env))) &&
    isContextHeld(contextOf(ours.securityContext), contextOf(theirs.securityContext))
  );
}

/** All variables of one name must match: the last one wins. Every mark but the run's id changes with each try. */
function isHeld(variable: AnyContainer, held: readonly AnyContainer[]): boolean {
  if (isMark(variable) && variable.name !== 'KDEBUG_RUN') return true;
  const named = held.filter(({ name }) => name === variable.name);
  return named.length > 0 && named.every((one) => isSame(variableOf(one), variableOf(variable)));
}

function isContextHeld(
  { capabilities, ...sent }: AnyContainer,
  { capabilities: found, ...held }: AnyContainer,
): boolean {
  const [ours, theirs] = [objectOf(capabilities), objectOf(found)];
  const dropped = Array.isArray(theirs.drop) ? theirs.drop : [];
  const isDropped = Array.isArray(ours.drop) ? ours.drop.every((each) => dropped.includes(each)) : true;
  return (
    isSame(ours.add ?? [], theirs.add ?? []) &&
    isDropped &&
    Object.entries(sent).every(([field, value]) => isSame(value, held[field])) &&
    Object.entries(held).every(([field, value]) => field in sent || isSame(value, HARMLESS[field]))
  );
}
