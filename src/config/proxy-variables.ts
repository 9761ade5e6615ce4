/** The proxy for Slack. */
export interface ProxyEnv {
  /** May hold a password. */
  readonly url: string;
  readonly noProxy: string;
}

/** Never uses the proxy: traffic to this machine may be unencrypted. */
const THIS_MACHINE = 'localhost,127.0.0.1,[::1]';
/** In order of precedence; lower case comes first, as in curl and Node. */
const NAMES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

/** Reads HTTPS_PROXY, else HTTP_PROXY, and NO_PROXY, in upper or lower case. A problem never shows a value. */
export function proxyOf(given: Readonly<Record<string, string>>): {
  readonly proxy?: ProxyEnv;
  readonly problems: readonly string[];
} {
  const name = NAMES.find((one) => given[one] !== undefined);
  if (name === undefined) return { problems: [] };
  const url = given[name] ?? '';
  if (!isProxyUrl(url)) {
    return {
      problems: [
        `${name} must be http://HOST:PORT or https://HOST:PORT; if the proxy requires a login, with USER:PASSWORD@ before the host, percent-encoded`,
      ],
    };
  }
  const noProxy = given.no_proxy ?? given.NO_PROXY;
  return { proxy: { url, noProxy: noProxy === undefined ? THIS_MACHINE : joined(noProxy) }, problems: [] };
}

/** The password in both forms: percent-encoded as in the URL, and decoded as sent to the proxy. */
export function passwordOf({ url }: ProxyEnv): readonly string[] {
  const { password } = new URL(url);
  return password === '' ? [] : [password, decodeURIComponent(password)];
}

/** The star works only alone. */
const joined = (noProxy: string): string => (noProxy === '*' ? noProxy : `${noProxy},${THIS_MACHINE}`);

function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text);
  return (
    /^https?:$/.test(protocol) &&
    hostname !== '' &&
    (username === '') === (password === '') &&
    [username, password].every(isDecodable) &&
    /^\/?$/.test(pathname) &&
    search + hash === ''
  );
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
