import { generate } from 'selfsigned';

export interface Certificates {
  readonly caPem: string;
  readonly key: string;
  readonly cert: string;
}

/** A fresh authority and a certificate for this machine's loopback names. Nothing is stored on disk. */
export async function makeCertificates(): Promise<Certificates> {
  const authority = await generate([{ name: 'commonName', value: 'kdebug local cluster' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, digitalSignature: true, critical: true },
    ],
  });
  const server = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { caPem: authority.cert, key: server.private, cert: server.cert };
}

/** A kubeconfig with one context, `local`. */
export function kubeconfigOf(server: string, caPem: string, account: { user: string; token: string }): string {
  const ca = Buffer.from(caPem).toString('base64');
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- { name: local, cluster: { server: "${server}", certificate-authority-data: "${ca}" } }`,
    'users:',
    `- { name: "${account.user}", user: { token: "${account.token}" } }`,
    'contexts:',
    `- { name: local, context: { cluster: local, user: "${account.user}" } }`,
    'current-context: local',
    '',
  ].join('\n');
}
