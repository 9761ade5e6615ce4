import { grouped } from '../../../lib/object.ts';
import { type PodEvent, PROBE_KINDS, type Probe, type ProbeKind } from '../../container/pod.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import { cleanWords, listed, quoted } from './phrases.ts';
import { containerOfEvent, type PodPart, partsOf, warningsOfPod } from './pod-containers.ts';

const MESSAGE = /^(?<kind>Startup|Liveness|Readiness) probe (?:failed|errored)[^:]*: ?(?<words>.*)$/s;

/** The failures of one probe, taken together. */
export interface Failing {
  readonly part: PodPart;
  readonly kind: ProbeKind;
  readonly probe: Probe | undefined;
  readonly count: number;
  readonly lastAtMs: number;
  /** The kubelet's, without its introduction. */
  readonly words: string;
}

const kindOf = ({ message }: PodEvent): ProbeKind | undefined => {
  const kind = MESSAGE.exec(message)?.groups?.kind?.toLowerCase();
  return PROBE_KINDS.find((known) => known === kind);
};

export function failuresOf(facts: ClusterFacts): readonly Failing[] | undefined {
  const unhealthy = warningsOfPod(facts)?.filter(({ reason }) => reason === 'Unhealthy');
  if (!unhealthy || unhealthy.length === 0) return unhealthy && [];
  const byContainer = grouped(unhealthy, containerOfEvent);
  return partsOf(facts.pod).flatMap((part) => {
    const byKind = grouped(byContainer.get(part.name) ?? [], kindOf);
    return PROBE_KINDS.flatMap((kind): readonly Failing[] => {
      const own = byKind.get(kind) ?? [];
      const [newest] = own;
      if (!newest) return [];
      const count = own.reduce((sum, event) => sum + (event.count ?? 1), 0);
      const words = MESSAGE.exec(newest.message)?.groups?.words ?? '';
      return [{ part, kind, probe: part.spec?.probes?.[kind], count, lastAtMs: newest.atMs, words }];
    });
  });
}

/** `GET :8080/healthz`, `TCP :5432`, “cat /tmp/ready”. */
export function targetOf({ probe, words }: Failing): string {
  const [, secure, port, path] = /"http(s?):\/\/[^/"]*?:(\d{1,5})([^"?]{0,100})/.exec(words) ?? [];
  const dialled = /dial tcp \S*?:(\d{1,5}):/.exec(words)?.[1];
  if (probe?.by === 'exec') return quoted(probe.command ?? '', 90) || 'its command';
  const at = probe?.port ?? port ?? dialled;
  if (at === undefined) return '';
  const shown = cleanWords(`:${at}`, 64);
  if (probe?.by === 'tcp') return `TCP ${shown}`;
  if (probe?.by === 'grpc') return `gRPC ${shown}`;
  return `${secure === 's' ? 'HTTPS' : 'HTTP'} ${shown}${cleanWords(probe?.path ?? path ?? '', 80)}`;
}

/** The port, if the container declares others and not this one. */
export function undeclaredPort({ part, probe, words }: Failing): number | undefined {
  const ports = part.spec?.ports ?? [];
  const dialled = /(?:dial tcp \S*?|"https?:\/\/[^/"]*?):(\d{1,5})[:/"]/.exec(words)?.[1];
  const port = typeof probe?.port === 'number' ? probe.port : Number(dialled ?? Number.NaN);
  return ports.length > 0 && port > 0 && !ports.includes(port) ? port : undefined;
}

export const REFUSED = /connection refused|connection reset|EOF/i;
export const TIMED_OUT = /deadline exceeded|timed out|timeout|i\/o timeout/i;
export const statusOf = (words: string): string | undefined => /statuscode: (\d{3})/.exec(words)?.[1];

/** The program that an exec probe wants to run, where the image does not have it. */
const MISSING_PROGRAM = /exec: \\?"(?<program>[^"\\]{1,100})\\?": (?:executable file not found|.{0,60}no such file)/;
/** A port by a name that the container does not have: the kubelet then takes the name for a number. */
export const MISSING_PORT = /strconv\.Atoi: parsing \\?"(?<name>[^"\\]{1,63})\\?": invalid syntax/;

export const programMissing = (words: string): string | undefined => MISSING_PROGRAM.exec(words)?.groups?.program;

function wrongName({ part, words }: Failing): string | undefined {
  const name = MISSING_PORT.exec(words)?.groups?.name;
  const known = part.spec?.portNames ?? [];
  if (name === undefined) return undefined;
  const has =
    known.length === 0 ? 'it names none' : `its ports are named ${cleanWords(listed(known.slice(0, 4)), 100)}`;
  return `${part.name} has no port named ${cleanWords(name, 63)}, ${has}`;
}

/** The result of the probe, short if the kubelet's words are well known. */
export function resultOf(failing: Failing): string {
  const { probe, words } = failing;
  const status = statusOf(words);
  const program = programMissing(words);
  if (program !== undefined) return `${cleanWords(program, 60)} is not in the image`;
  const port = wrongName(failing);
  if (port !== undefined) return port;
  if (status !== undefined) return `it answers ${status}`;
  if (TIMED_OUT.test(words)) return `no answer within ${probe?.timeoutSeconds ?? 1} s`;
  if (/connection refused/i.test(words)) return 'connection refused';
  return quoted(words) || 'it fails without a word';
}

/** `; web declares only port 80`. */
export const mismatchOf = (failing: Failing): string =>
  undeclaredPort(failing) !== undefined && !statusOf(failing.words)
    ? `; ${failing.part.name} declares only port ${listed((failing.part.spec?.ports ?? []).slice(0, 4).map(String))}`
    : '';

/** The probe asks the wrong question: a port that nobody declares and that refuses, a path, a program or a name that is not there. */
export const isMisdirected = (failing: Failing): boolean =>
  statusOf(failing.words) === '404' ||
  programMissing(failing.words) !== undefined ||
  MISSING_PORT.test(failing.words) ||
  (REFUSED.test(failing.words) && undeclaredPort(failing) !== undefined);
