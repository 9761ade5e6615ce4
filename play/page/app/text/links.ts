const SAFE = new Set(['http:', 'https:', 'mailto:']);

/** The address when it is one that may be followed (http, https, mailto), else nothing: then only its words are shown. */
export function safeHref(address: string): string | undefined {
  try {
    const url = new URL(address);
    return SAFE.has(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}
