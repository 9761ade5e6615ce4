import { MORE_FACTS, type OptionalRight } from '../core/optional-rights.ts';
import type { Check } from './check.ts';
import type { ClusterProbe, Right } from './probes.ts';
import type { Rights } from './rights-checks.ts';

/** The optional rights in these namespaces, a line each. A missing one is no failure: the line says what kdebug then cannot say. */
export async function checkMoreFacts(
  bot: Rights,
  namespaces: readonly string[],
  probe: ClusterProbe,
): Promise<readonly Check[]> {
  return Promise.all(MORE_FACTS.map((right) => checkRight(right, bot, { namespaces, probe })));
}

interface Scope {
  readonly namespaces: readonly string[];
  readonly probe: ClusterProbe;
}

async function checkRight(
  right: OptionalRight,
  { account, cluster }: Rights,
  { namespaces, probe }: Scope,
): Promise<Check> {
  const { what, isOfCluster, brings } = right;
  try {
    const all = rightsOf(right);
    const wanted = isOfCluster ? all : namespaces.flatMap((namespace) => all.map((each) => ({ ...each, namespace })));
    const answers = await Promise.all(wanted.map((each) => probe.may(each)));
    const missing = wanted.filter((_, index) => answers[index] === false);
    if (missing.length === 0) return cluster.ok(what, `may be read: results say ${brings}`);
    const names = [...new Set(missing.map(({ verb, resource }) => `${verb} ${resource}`))].join(', ');
    const where = [...new Set(missing.flatMap(({ namespace }) => namespace ?? []))].join(', ');
    return cluster.ok(
      what,
      `${account ?? 'kdebug'} may not ${names}${where === '' ? '' : ` in ${where}`} (optional): without it kdebug cannot say ${brings}; manifests/components/more-facts gives it`,
    );
  } catch (thrown) {
    return cluster.broken(what, thrown);
  }
}

const rightsOf = ({ rules }: OptionalRight): readonly Right[] =>
  rules.flatMap(({ apiGroups: [group = ''], resources, verbs }) =>
    resources.flatMap((resource) =>
      verbs.map((verb) => (group === '' ? { verb, resource } : { verb, group, resource })),
    ),
  );
