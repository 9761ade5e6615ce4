import type { z } from 'zod';
import { isCatalogueName, isDnsSubdomain } from '../../core/container/names.ts';
import { PROFILES } from '../../core/container/profiles.ts';
import { FLAG_ANNOTATION, type LabelRequirement, WORKLOAD_LABEL } from '../../core/job/ephemeral-job.ts';
import { FLAG_NAMES, type FlagName } from '../../core/job/job-request.ts';
import { targetOfSelector } from '../../core/job/job-selector.ts';
import { isLabelKey, isLabelValue } from '../../core/request/selector.ts';
import { parseDuration } from '../../lib/duration.ts';
import type { Finding } from '../../lib/yaml.ts';
import type { JobShape } from './job-shape.ts';

type Job = z.output<typeof JobShape>;

/** Checks across fields. */
export function ruleFindings(job: Job): readonly Finding[] {
  const ofLabels = [...labelFindings(job), ...requirementFindings(job)];
  return [
    ...ofLabels,
    // Invalid labels make no selector; report only the labels.
    ...(ofLabels.length === 0 ? selectorFindings(job) : []),
    ...flagFindings(job),
    ...nameFindings(job),
    ...variableFindings(job),
  ];
}

function labelFindings({ spec }: Job): readonly Finding[] {
  return Object.entries(spec.selector.matchLabels ?? {}).flatMap(([key, value]): readonly Finding[] => {
    const path = ['spec', 'selector', 'matchLabels', key];
    if (!isLabelKey(key)) return [{ path, at: 'key', message: 'cannot be the key of a label' }];
    // A label may be empty: `app=` matches pods whose label is empty.
    const isValue = value === '' || isLabelValue(value);
    return isValue ? [] : [{ path, at: 'value', message: 'cannot be the value of a label' }];
  });
}

function requirementFindings({ spec }: Job): readonly Finding[] {
  // An empty value alone means `app=` or `app!=`; among others it cannot be expressed.
  const areValues = (values: readonly string[]): boolean =>
    (values.length === 1 && values[0] === '') || values.every(isLabelValue);
  const isWrong = ({ key, values = [] }: LabelRequirement): boolean => !isLabelKey(key) || !areValues(values);
  return (spec.selector.matchExpressions ?? []).flatMap((requirement, index): readonly Finding[] => {
    const path = ['spec', 'selector', 'matchExpressions', index];
    return isWrong(requirement) ? [{ path, at: 'value', message: 'has a key or a value that no label can have' }] : [];
  });
}

/** A workload label must be the only one. */
function selectorFindings({ spec: { selector } }: Job): readonly Finding[] {
  const path = ['spec', 'selector'];
  const target = targetOfSelector(selector);
  if (!target)
    return [{ path, at: 'value', message: 'is longer than 1,000 characters, or none that kdebug can ask for' }];
  if (target.kind === 'workload' && !isDnsSubdomain(target.name)) {
    return [{ path, at: 'value', message: `names no ${target.workload}` }];
  }
  const ours = Object.keys(selector.matchLabels ?? {}).find((key) => key.startsWith(WORKLOAD_LABEL));
  if (ours === undefined || target.kind === 'workload') return [];
  const message =
    'is no selector of kdebug: kdebug/deployment, statefulset, daemonset or job, and nothing else beside it';
  return [{ path: [...path, 'matchLabels', ours], at: 'key', message }];
}

const isTrue = (value: string): boolean => value === 'true';

const FLAGS: Readonly<Record<FlagName, { readonly test: (value: string) => boolean; readonly message: string }>> = {
  canary: { test: isTrue, message: 'must be "true", or left out' },
  'no-target': { test: isTrue, message: 'must be "true", or left out' },
  cluster: { test: isCatalogueName, message: 'cannot be the name of a cluster' },
  profile: {
    test: (value) => value === 'auto' || PROFILES.some((profile) => profile === value),
    message: `must be auto, ${PROFILES.join(', ')}`,
  },
  reason: {
    test: (value) => value.length <= 500 && value !== '' && value === value.replace(/\s+/g, ' ').trim(),
    message: 'must be one line of 1 to 500 characters',
  },
  timeout: { test: (value) => parseDuration(value) !== undefined, message: 'must be a duration such as 5m' },
};

function flagFindings({ metadata: { annotations = {} } }: Job): readonly Finding[] {
  return Object.entries(annotations).flatMap(([key, value]): readonly Finding[] => {
    if (!key.startsWith(FLAG_ANNOTATION)) return [];
    const path = ['metadata', 'annotations', key];
    const flag = FLAG_NAMES.find((name) => key === `${FLAG_ANNOTATION}${name}`);
    if (!flag) return [{ path, at: 'key', message: `is no annotation of kdebug; those are ${FLAG_NAMES.join(', ')}` }];
    return FLAGS[flag].test(value) ? [] : [{ path, at: 'value', message: FLAGS[flag].message }];
  });
}

function nameFindings({ spec }: Job): readonly Finding[] {
  const containers = spec.template.ephemeralContainers;
  return containers.flatMap(({ name }, index): readonly Finding[] => {
    const path = ['spec', 'template', 'ephemeralContainers', index, 'name'];
    const isRepeated = containers.findIndex((container) => container.name === name) < index;
    return isRepeated ? [{ path, at: 'value', message: 'is the name of another container too' }] : [];
  });
}

/**
 * Only one of two values for one name can win (core/v1 Container: the later), so an approver could read the wrong one.
 */
function variableFindings({ spec }: Job): readonly Finding[] {
  return spec.template.ephemeralContainers.flatMap(({ env = [] }, index): readonly Finding[] => {
    const names = new Set<string>();
    return env.flatMap(({ name }, at): readonly Finding[] => {
      if (names.size === names.add(name).size) {
        const path = ['spec', 'template', 'ephemeralContainers', index, 'env', at, 'name'];
        return [{ path, at: 'value', message: `gives the variable ${name} a second time; keep one of the two` }];
      }
      return [];
    });
  });
}
