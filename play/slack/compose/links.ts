/** Domains that Slack's composer takes for one: a name of several parts that ends in a well-known one. */
const TOP_LEVEL = 'com|net|org|io|dev|app|co|de|uk|eu|us|me|sh|ai|gov|edu|info|xyz|cloud|tech';
const BEFORE = '(?<![\\w@./:|<-])';

/** In this order: an address with its scheme, an e-mail address, a bare domain with what follows it. */
const LINKED = new RegExp(
  [
    `${BEFORE}(?<url>https?://[^\\s<>|]*[^\\s<>|.,;:!?'")\\]}])`,
    `${BEFORE}(?<mail>[\\w.+-]+@(?:[a-z0-9-]+\\.)+(?:${TOP_LEVEL})(?![\\w-]))`,
    `${BEFORE}(?<domain>(?:[a-z0-9-]+\\.)+(?:${TOP_LEVEL})(?![\\w-])(?:[/:][^\\s<>|]*[^\\s<>|.,;:!?'")\\]}])?)`,
  ].join('|'),
  'gi',
);

/** Words that look like addresses as the links that Slack's composer makes of them. `text` is escaped already. */
export function withLinks(text: string): string {
  return text.replace(LINKED, (found, url?: string, mail?: string) => {
    if (url !== undefined) return `<${found}>`;
    return mail !== undefined ? `<mailto:${found}|${found}>` : `<http://${found}|${found}>`;
  });
}
