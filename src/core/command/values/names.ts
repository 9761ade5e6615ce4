const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const LABEL_LENGTH = 63;
const SUBDOMAIN_LENGTH = 253;
const ENV_NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;
/** The longest name of a variable; the API has no limit, a Slack message has. */
const ENV_NAME_LENGTH = 253;

/** DNS-1123 label (namespaces, containers): at most 63 of `a-z 0-9 -`. Kubernetes apimachinery, util/validation. */
export const isDnsLabel = (text: string): boolean => text.length <= LABEL_LENGTH && LABEL.test(text);

/** DNS-1123 subdomain (pods, workloads): labels joined by dots, at most 253 characters. Kubernetes apimachinery, util/validation. */
export const isDnsSubdomain = (text: string): boolean =>
  text.length > 0 && text.length <= SUBDOMAIN_LENGTH && text.split('.').every((part) => LABEL.test(part));

/** A variable's name, by the API's strict rule (IsEnvVarName); neither `.` nor anything that begins with `..`. */
export const isEnvName = (text: string): boolean =>
  text.length <= ENV_NAME_LENGTH && ENV_NAME.test(text) && text !== '.' && !text.startsWith('..');

/** A name that the policy file gives a cluster or an image's alias. */
export const isCatalogueName = (text: string): boolean => /^[a-z0-9][a-z0-9._-]{0,62}$/.test(text);

/** The nearest valid name that a phone or a copy may have spoilt: lower case, trimmed of stray marks; or `undefined`. */
export function nearestName(text: string, isValid: (name: string) => boolean): string | undefined {
  if (text.length > SUBDOMAIN_LENGTH + 2) return undefined;
  const plain = text
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^[^a-z0-9]/, '')
    .replace(/[^a-z0-9]$/, '');
  return plain !== text && isValid(plain) ? plain : undefined;
}
