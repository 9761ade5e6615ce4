import { parseDuration } from '../../../lib/duration.ts';
import { nearest } from '../../../lib/text.ts';
import type { EnvVar, ImagePullPolicy } from '../../container/ephemeral-container.ts';
import {
  isCatalogueName,
  isDnsLabel,
  isDnsSubdomain,
  isEnvName,
  nearestName,
  parseImageReference,
} from '../../container/names.ts';
import { PROFILES, type ProfileName } from '../../container/profiles.ts';
import type { WantedRevision } from '../../container/revisions.ts';
import { isRunId } from '../../ids.ts';
import { OUTCOME_WORDS, type OutcomeWord } from '../../outcome.ts';
import { parseSelector, printSelector } from '../../request/selector.ts';
import { COMMAND } from '../../shown-names.ts';
import { type ColumnRange, type Problem, type Report, shown } from './line.ts';

/** A value as typed, and its range. */
export interface Typed extends ColumnRange {
  readonly value: string;
}

/** Returns the valid value, or reports a problem at the typed one. */
export type Reader<T> = (typed: Typed, report: Report) => T | undefined;

export const PROFILE_NAMES: readonly ProfileName[] = ['auto', ...PROFILES];
const PULL_POLICIES: readonly ImagePullPolicy[] = ['Always', 'IfNotPresent', 'Never'];

/** The longest `--reason`: an approval's card shows it whole. */
const REASON_LENGTH = 500;
/** EphemeralJob's `replicas` is an int32. */
const MAX_REPLICAS = 2_147_483_647;
const MAX_PARALLELISM = 10;
const MAX_PAGE = 20;
const MAX_TAIL = 10_000;
const MAX_LITERAL_LENGTH = 200;

const problem = (typed: Typed, what: Omit<Problem, 'start' | 'end'>): Problem => ({
  ...what,
  start: typed.start,
  end: typed.end,
});

const LABEL_RULE =
  'It has at most 63 lower-case letters, digits and hyphens, and begins and ends with a letter or digit.';
const SUBDOMAIN_RULE =
  'It has at most 253 lower-case letters, digits, hyphens and dots, and begins and ends with a letter or digit.';

export const didYouMean = (guess: string | undefined, otherwise: string): string =>
  guess ? `Did you mean ${guess}?` : otherwise;

const nameReader =
  (what: string, isValid: (name: string) => boolean, rule: string): Reader<string> =>
  (typed, report) => {
    if (isValid(typed.value)) return typed.value;
    const hint = didYouMean(nearestName(typed.value, isValid), rule);
    return report(
      problem(typed, { code: 'name_invalid', message: `${shown(typed.value)} cannot be the name of a ${what}.`, hint }),
    );
  };

export const readNamespace = nameReader('namespace', isDnsLabel, LABEL_RULE);
export const readContainerName = nameReader('container', isDnsLabel, LABEL_RULE);
export const readCluster = nameReader('cluster', isCatalogueName, 'Use its name in the policy.');

/** A name that DNS-1123 allows for `kind` (`pod`, `deployment` …). */
export const readObjectName = (kind: string): Reader<string> => nameReader(kind, isDnsSubdomain, SUBDOMAIN_RULE);

/** A selector in canonical spelling. */
export const readSelector: Reader<string> = (typed, report) => {
  const selector = parseSelector(typed.value);
  if (selector) return printSelector(selector);
  const message = `${shown(typed.value)} is not a label selector.`;
  const hint = "Write it in quotes, for example -l 'app=web,tier in (a,b)'.";
  return report(problem(typed, { code: 'selector_invalid', message, hint }));
};

/** An alias or a reference, as typed. */
export const readImage: Reader<string> = (typed, report) => {
  if (isCatalogueName(typed.value) || parseImageReference(typed.value)) return typed.value;
  const lower = typed.value.toLowerCase();
  const hint = didYouMean(
    lower !== typed.value && parseImageReference(lower) ? lower : undefined,
    `Use an alias from ${COMMAND} images, or a reference such as debian:12-slim.`,
  );
  return report(problem(typed, { code: 'image_invalid', message: `${shown(typed.value)} is not an image.`, hint }));
};

/** `NAME=VALUE`; the value may be empty. Refuses names reserved for kdebug (`KDEBUG_…`). */
export const readEnv: Reader<EnvVar> = (typed, report) => {
  const equals = typed.value.indexOf('=');
  const name = equals < 0 ? typed.value : typed.value.slice(0, equals);
  if (equals < 0) {
    const hint = `Write --env=NAME=VALUE; --env=NAME= sets it to nothing.`;
    return report(problem(typed, { code: 'env_invalid', message: `${shown(typed.value)} has no value.`, hint }));
  }
  if (!isEnvName(name)) {
    const hint = 'A name has letters, digits and _, and does not begin with a digit.';
    return report(
      problem(typed, { code: 'env_invalid', message: `${shown(name)} cannot be the name of a variable.`, hint }),
    );
  }
  if (/^KDEBUG_/i.test(name)) {
    const hint = 'Choose a name that does not begin with KDEBUG_.';
    return report(problem(typed, { code: 'env_reserved', message: `${shown(name)} belongs to kdebug itself.`, hint }));
  }
  return { name, value: typed.value.slice(equals + 1) };
};

/** `previous`, or the number of a revision of a Deployment. */
export const readRevision: Reader<WantedRevision> = (typed, report) => {
  if (typed.value === 'previous') return typed.value;
  const number = /^[1-9]\d{0,8}$/.test(typed.value) ? Number(typed.value) : undefined;
  if (number !== undefined) return number;
  const hint = didYouMean(
    nearest(typed.value.toLowerCase(), ['previous']),
    'Write --image-of=previous, or the number of a revision, such as --image-of=41.',
  );
  return report(problem(typed, { code: 'number_invalid', message: `${shown(typed.value)} is no revision.`, hint }));
};

/** The name of a variable of the pod's own container. */
export const readEnvName: Reader<string> = (typed, report) => {
  if (isEnvName(typed.value)) return typed.value;
  const hint = 'Write --without-env=NAME, without a value; a name has letters, digits and _.';
  const message = `${shown(typed.value)} cannot be the name of a variable.`;
  return report(problem(typed, { code: 'env_invalid', message, hint }));
};

export const readProfile: Reader<ProfileName> = (typed, report) =>
  PROFILE_NAMES.find((name) => name === typed.value) ??
  report(
    problem(typed, {
      code: 'profile_unknown',
      message: `There is no profile ${shown(typed.value)}.`,
      hint: didYouMean(nearest(typed.value, PROFILE_NAMES), `The profiles are ${PROFILE_NAMES.join(', ')}.`),
    }),
  );

export const readPullPolicy: Reader<ImagePullPolicy> = (typed, report) =>
  PULL_POLICIES.find((policy) => policy === typed.value) ??
  report(
    problem(typed, {
      code: 'pull_policy_unknown',
      message: `There is no pull policy ${shown(typed.value)}.`,
      hint: didYouMean(nearest(typed.value, PULL_POLICIES), `The policies are ${PULL_POLICIES.join(', ')}.`),
    }),
  );

/** Milliseconds. */
export const readDuration: Reader<number> = (typed, report) => {
  const ms = parseDuration(typed.value);
  if (ms !== undefined) return ms;
  const hint = /^[1-9]\d{0,4}$/.test(typed.value)
    ? `Add the unit: ${typed.value}s or ${typed.value}m.`
    : 'Write for example 90s, 5m, 1h or 1h30m; from 1s to 7d.';
  return report(
    problem(typed, { code: 'duration_invalid', message: `${shown(typed.value)} is not a usable duration.`, hint }),
  );
};

/** The reason on one line with single spaces. */
export const readReason: Reader<string> = (typed, report) => {
  const reason = typed.value.replace(/\s+/g, ' ').trim();
  if (reason !== '' && reason.length <= REASON_LENGTH) return reason;
  const message = reason === '' ? 'The reason is empty.' : `The reason has ${reason.length} characters.`;
  const hint = `Say why in 1 to ${REASON_LENGTH} characters.`;
  return report(problem(typed, { code: 'reason_invalid', message, hint }));
};

export const numberReader =
  (flag: string, most: number): Reader<number> =>
  (typed, report) => {
    const value = /^\d{1,10}$/.test(typed.value) ? Number(typed.value) : 0;
    if (value >= 1 && value <= most) return value;
    const message = `--${flag} cannot be ${shown(typed.value)}.`;
    const hint = most === MAX_REPLICAS ? 'Give a whole number, at least 1.' : `Give a whole number from 1 to ${most}.`;
    return report(problem(typed, { code: 'number_invalid', message, hint }));
  };

export const readReplicas = numberReader('replicas', MAX_REPLICAS);
export const readParallelism = numberReader('parallelism', MAX_PARALLELISM);

export const readPage = numberReader('page', MAX_PAGE);
export const readTail = numberReader('tail', MAX_TAIL);

/** A part of a pod's name, in lower case. */
export const readPodPart: Reader<string> = (typed, report) => {
  const part = typed.value.toLowerCase();
  if (/^[a-z0-9.-]{1,253}$/.test(part)) return part;
  const message = `${shown(typed.value)} is in no pod's name.`;
  const hint = 'Write a part of the name: letters, digits, hyphens and dots.';
  return report(problem(typed, { code: 'name_invalid', message, hint }));
};

export const readOutcome: Reader<OutcomeWord> = (typed, report) => {
  const wanted = typed.value.toLowerCase();
  const word = OUTCOME_WORDS.find((known) => known === wanted);
  if (word !== undefined) return word;
  const hint = didYouMean(nearest(wanted, OUTCOME_WORDS), `The words are ${OUTCOME_WORDS.join(', ')}.`);
  return report(problem(typed, { code: 'outcome_unknown', message: `No run ends as ${shown(typed.value)}.`, hint }));
};

/** Text to look for, as typed. */
export const readLiteral: Reader<string> = (typed, report) => {
  if (typed.value.length <= MAX_LITERAL_LENGTH && !/[\r\n]/.test(typed.value)) return typed.value;
  const message = 'The text to look for is not one line of at most 200 characters.';
  return report(problem(typed, { code: 'flag_value_unexpected', message, hint: 'Look for a shorter part of it.' }));
};

export const readRunId: Reader<string> = (typed, report) =>
  isRunId(typed.value)
    ? typed.value
    : report(
        problem(typed, {
          code: 'run_id_invalid',
          message: `${shown(typed.value)} is not the id of a run.`,
          hint: didYouMean(
            isRunId(typed.value.toLowerCase()) ? typed.value.toLowerCase() : undefined,
            `An id has ten characters, a to z and 2 to 7; ${COMMAND} list shows them.`,
          ),
        }),
      );
