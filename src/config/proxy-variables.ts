/** The proxy on the way to Slack. */
export interface ProxyEnv {
  /** May hold a password. */
  readonly url: string;
  readonly noProxy: string;
}

/** Never by a proxy: what goes to this very machine may be in the clear. */
const THIS_MACHINE = 'localhost,127.0.0.1,[::1]';
/** In the order in which they count: the small ones first, as curl and Node have it. */
const NAMES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

/** Reads HTTPS_PROXY, else HTTP_PROXY, and NO_PROXY, in capitals or not. A problem never shows a value. */
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
        `${name} must be http://HOST:PORT or https://HOST:PORT; where the proxy asks who you are, with USER:PASSWORD@ before the host, percent-encoded`,
      ],
    };
  }
  const noProxy = given.no_proxy ?? given.NO_PROXY;
  return { proxy: { url, noProxy: noProxy === undefined ? THIS_MACHINE : joined(noProxy) }, problems: [] };
}

/** The password in both its forms: as it stands in the URL, and as the proxy gets it. */
export function passwordOf({ url }: ProxyEnv): readonly string[] {
  const { password } = new URL(url);
  return password === '' ? [] : [password, decodeURIComponent(password)];
}

/** The star counts only where it stands alone. */
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
