import { readFileSync, writeFileSync } from 'node:fs';
import { ApiException, type V1PodSpec } from '@kubernetes/client-node';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findingOf, sectionOf } from '../../images/test/autodiagnose/script.ts';
import { table, withPart } from '../../scripts/generated.ts';
import { PROFILES, type Profile, securityContextOf } from '../../src/core/container/profiles.ts';
import { parseDiagnosis } from '../../src/core/diagnosis/marked-report.ts';
import { Kube } from '../e2e/kube.ts';
import { Looks, podOf } from './autodiagnose-looks.ts';
import { filesInLog } from './files-in-log.ts';

const kubeconfigPath = process.env.KUBECONFIG ?? '';
const PAGE = new URL('../../docs/net.md', import.meta.url);
const SERVER = readFileSync(new URL('./images/targets/net-faults/server.py', import.meta.url), 'utf8');
const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
type Level = (typeof LEVELS)[number];

/** Endpoints of the pod, and what the image must say of each: the findings about the endpoint, and words of the log. */
const ENDPOINTS: readonly { endpoint: string; codes: readonly string[]; says: string | RegExp }[] = [
  { endpoint: 'http://good:8080/health', codes: [], says: 'GET /health: status 200, first byte after' },
  { endpoint: 'good.shop.test:8090', codes: ['endpoint_refused'], says: 'refuses connections to port 8090' },
  { endpoint: 'good.shop.test:8085', codes: ['endpoint_silent'], says: /no answer after [3-9]/ },
  { endpoint: 'good.shop.test:8084', codes: ['connect_loss'], says: 'packets get lost' },
  { endpoint: 'http://good.shop.test:8081', codes: ['http_slow'], says: /first byte comes after \d{4,} ms/ },
  { endpoint: 'http://good.shop.test:8082', codes: ['http_error'], says: 'status 503' },
  { endpoint: 'http://good.shop.test:8083', codes: [], says: 'redirects to http://169.254.169.254, which is not' },
  {
    endpoint: 'https://good.shop.test:8443',
    // Not untrusted: what the target trusts cannot be read as another user.
    codes: ['tls_expired', 'tls_mismatch'],
    says: 'the certificate is for other.test, not for good.shop.test',
  },
  { endpoint: 'https://good.shop.test:8444', codes: ['tls_failed'], says: 'does not speak TLS on this port' },
  { endpoint: 'bad.shop.test:80', codes: ['endpoint_unknown'], says: 'bad.shop.test is not known' },
  { endpoint: 'http://cloud.shop.test/latest', codes: [], says: '169.254.169.254 is not probed: a link-local address' },
];

/** What is refused before anything is sent. */
const REFUSED: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
  [{ NET_ENDPOINT: 'http://169.254.169.254/latest/meta-data/' }, 'where clouds hand out credentials'],
  [{ NET_ENDPOINT: 'http://[::ffff:169.254.169.254]/' }, 'where clouds hand out credentials'],
  [{ NET_ENDPOINT: '10.244.0.1:22' }, "the pod's gateway, an address of the node"],
  [{ NET_ENDPOINT: 'good.shop.test:10250' }, 'port 10250 belongs to the kubelet'],
  [{ NET_ENDPOINT: 'http://good.shop.test/?token=x' }, 'must not have a query'],
  [{ NET_FILTER: 'tcp' }, "most of the pod's traffic"],
  [{ NET_FILTER: 'tcp port 6443' }, 'never captured'],
  [{ NET_FILTER: 'port 80) or (port 443' }, 'not one that tcpdump knows'],
  [{ NET_FILTER: 'port 80', NET_SECONDS: '61' }, 'NET_SECONDS must be a number from 1 to 60'],
  [{ NET_FILTER: 'port 80', NET_PACKETS: '5001' }, 'NET_PACKETS must be a number from 1 to 5000'],
];

/** What a node that is busy with other things shows of any endpoint. */
const SLOWNESS = new Set(['dns_slow', 'connect_loss', 'tls_slow', 'http_slow']);

const ABOUT_THE_ENDPOINT = new Set(['dns', 'connect', 'tls', 'http']);

/** The packets of a pcap file with nanoseconds, each as long as it was kept. */
function packetsOf(pcap: Buffer): readonly Buffer[] {
  expect(pcap.readUInt32LE(0)).toBe(0xa1b23c4d);
  const packets: Buffer[] = [];
  for (let at = 24; at < pcap.length; at += 16 + pcap.readUInt32LE(at + 8))
    packets.push(pcap.subarray(at + 16, at + 16 + pcap.readUInt32LE(at + 8)));
  return packets;
}

const DAY = 86_400_000;

async function faultyPod(readOnlyRootFilesystem: boolean): Promise<V1PodSpec> {
  const { private: KEY, cert: CERT } = await generate([{ name: 'commonName', value: 'other.test' }], {
    keyType: 'ec',
    notBeforeDate: new Date(Date.now() - 90 * DAY),
    notAfterDate: new Date(Date.now() - 2 * DAY),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'other.test' }] }],
  });
  const container = {
    image: 'localhost/target-python:1',
    command: ['/usr/bin/python3', '-I', '-c', SERVER],
    env: Object.entries({ KEY, CERT }).map(([name, value]) => ({ name, value })),
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 10001,
      runAsGroup: 10001,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
  };
  return podOf(container, {
    volumes: [{ name: 'tmp', emptyDir: {} }],
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['127.0.0.1'], searches: ['shop.test'], options: [{ name: 'ndots', value: '3' }] },
    securityContext: { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '53' }] },
  });
}

describe.skipIf(kubeconfigPath === '')('the net image', () => {
  let kube: Kube;
  let looks: Looks;
  const namespaces = new Map<Level, string>();

  beforeAll(async () => {
    const kubeconfig = readFileSync(kubeconfigPath, 'utf8');
    kube = new Kube(kubeconfig);
    looks = new Looks(kubeconfig);
    for (const level of LEVELS) {
      const namespace = await kube.namespace('kdebug-net', level);
      namespaces.set(level, namespace);
      await kube.pod(namespace, 'web', await faultyPod(level !== 'privileged'));
    }
    const ready = (namespace: string) => looks.log(namespace, 'web').then((log) => log.includes('ready'));
    for (const namespace of namespaces.values())
      await vi.waitUntil(() => ready(namespace), { timeout: 60_000, interval: 300 });
  });
  afterAll(() => kube?.cleanUp());

  /** One run; null where the API server refuses the profile. */
  async function run(level: Level, profile: Profile, env: Readonly<Record<string, string>>) {
    const namespace = namespaces.get(level) ?? '';
    const runAs = profile === 'restricted' ? { uid: 65532, gid: 65532 } : { uid: 0, gid: 0 };
    const securityContext = JSON.parse(JSON.stringify(securityContextOf(profile, runAs) ?? null));
    let name: string;
    try {
      name = await looks.start(namespace, 'web', {
        image: 'localhost/net:1',
        env,
        ...(securityContext && { securityContext }),
      });
    } catch (error) {
      if (error instanceof ApiException && error.code === 403) return null;
      throw error;
    }
    const { state, log } = await looks.ended(namespace, 'web', name);
    const diagnosis = parseDiagnosis(log, '');
    if (!diagnosis) throw new Error(`no report: ${log}`);
    // Of a pod with so many runs, the kubelet keeps a part of each message.
    expect(state.message).toMatch(/^{"kdebug":1,"tool":{"name":"net"/);
    return { diagnosis, log, exitCode: state.exitCode };
  }

  it.each(LEVELS)('says what is wrong with an endpoint, without any right, under %s', async (level) => {
    const seen = await Promise.all(
      ENDPOINTS.map(async ({ endpoint, codes: expected }) => {
        const ran = await run(level, 'restricted', { NET_ENDPOINT: endpoint });
        const codes = (ran?.diagnosis.findings ?? [])
          .filter(({ section = '' }) => ABOUT_THE_ENDPOINT.has(section))
          .map(({ code }) => code)
          .filter((code) => expected.includes(code) || !SLOWNESS.has(code));
        return { endpoint, codes: codes.sort(), exitCode: ran?.exitCode, log: ran?.log ?? '' };
      }),
    );
    expect(seen.map(({ endpoint, codes, exitCode }) => ({ endpoint, codes, exitCode }))).toEqual(
      ENDPOINTS.map(({ endpoint, codes }) => ({ endpoint, codes, exitCode: 0 })),
    );
    for (const [at, { says }] of ENDPOINTS.entries()) {
      expect(seen[at]?.log).toMatch(says);
      expect(seen[at]?.log).not.toMatch(/s3cret|^body/m);
      expect(String(filesInLog(seen[at]?.log ?? '').get('sockets.txt'))).toContain('LISTEN');
    }
  });

  it('shows the sockets that wait: a full queue, and the client of it', async () => {
    const ran = await run('restricted', 'restricted', {});
    const text = String(filesInLog(ran?.log ?? '').get('sockets.txt'));
    expect(text).toMatch(/LISTEN +\d+ +of 0 +0\.0\.0\.0:8085/);
    expect(text).toMatch(/SYN-SENT .* 127\.0\.0\.1:8085/);
    expect(ran && sectionOf(ran.diagnosis, 'sockets')?.text).toContain('LISTEN');
    // Tried without being named: a connection of the pod hangs there.
    expect(ran && findingOf(ran.diagnosis, 'peer_timeout')?.text).toMatch(/^127\.0\.0\.1:8085: no answer after [3-9]/);
    // The pod's resolver has none of the cluster's domains.
    expect(ran && sectionOf(ran.diagnosis, 'dns')?.text).toContain("not a cluster's DNS, 1 of its servers answer");
  });

  it.each(REFUSED)('refuses %j', async (env, why) => {
    const ran = await run('baseline', 'baseline', env);
    expect(ran?.diagnosis.verdict).toContain(why);
    expect(ran?.diagnosis.verdict).toMatch(/^Could not look: /);
    expect(ran?.exitCode).toBe(1);
    expect(filesInLog(ran?.log ?? '').size).toBe(0);
  });

  it('captures what a filter names, whole and no more', async () => {
    const env = { NET_ENDPOINT: 'http://good:8080/', NET_FILTER: 'tcp port 8080', NET_SECONDS: '4', NET_PACKETS: '17' };
    const ran = await run('baseline', 'baseline', env);
    const packets = packetsOf(filesInLog(ran?.log ?? '').get('capture.pcap') ?? Buffer.alloc(24));
    expect(packets).toHaveLength(17);
    for (const packet of packets) {
      expect(packet.length).toBeLessThanOrEqual(256);
      expect([packet.readUInt16BE(34), packet.readUInt16BE(36)]).toContain(8080);
    }
    expect(packets.some((packet) => packet.includes('GET / HTTP/1.1'))).toBe(true);
    expect(ran && sectionOf(ran.diagnosis, 'capture')?.text).toMatch(/^17 packets in .*, \d conversations?$/);
  });

  it('can do what docs/net.md says, by profile and Pod Security level', async () => {
    const rows: string[][] = [];
    for (const level of LEVELS)
      rows.push(
        ...(await Promise.all(
          PROFILES.map(async (profile) => {
            const env = { NET_ENDPOINT: 'http://good:8080/', NET_FILTER: 'tcp port 8080', NET_SECONDS: '2' };
            const ran = await run(level, profile, env);
            if (!ran) return [level, `*${profile}*`, 'refused by Pod Security', ''];
            const { diagnosis, log } = ran;
            const states = ['dns', 'connect', 'http', 'sockets'].map((name) => sectionOf(diagnosis, name)?.state);
            const looks = states.every((state) => state === 'ok' || state === 'finding') ? 'yes' : states.join(', ');
            const captured = filesInLog(log).has('capture.pcap');
            expect(sectionOf(diagnosis, 'capture')?.state === 'not-readable').toBe(!captured);
            return [level, `*${profile}*`, looks, captured ? 'yes' : 'no: NET_RAW is missing'];
          }),
        )),
      );
    const head = ['Pod Security', 'profile', 'endpoint, names, sockets', 'capture'];
    const page = readFileSync(PAGE, 'utf8');
    const made = withPart(page, 'net-visibility', table(head, rows));
    if (process.env.KDEBUG_WRITE_DOCS === '1') writeFileSync(PAGE, made);
    else expect(page).toBe(made);
  });
});
