import { describe, expect, it } from 'vitest';
import { loadEnv, secretsOf } from '../../src/config/env.ts';

const NEEDED = { SLACK_BOT_TOKEN: 'xoxb-1-not-a-real-token', SLACK_SIGNING_SECRET: '0123456789abcdef' };
const THIS_MACHINE = 'localhost,127.0.0.1,[::1]';

const load = (variables: Readonly<Record<string, string>>) => loadEnv({ ...NEEDED, ...variables });
const proxyOf = (variables: Readonly<Record<string, string>>) => {
  const loaded = load(variables);
  return loaded.kind === 'ok' ? loaded.env.slack.proxy : loaded.problems;
};

describe('the proxy on the way to Slack', () => {
  it.each(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'])('is read from %s', (name) => {
    expect(proxyOf({ [name]: 'http://proxy:3128' })).toEqual({ url: 'http://proxy:3128', noProxy: THIS_MACHINE });
  });

  it('is none without a variable, or with an empty one', () => {
    expect(proxyOf({ HTTPS_PROXY: '', NO_PROXY: 'x' })).toBeUndefined();
  });

  it('HTTPS_PROXY counts before HTTP_PROXY, small letters before capitals', () => {
    const all = { HTTP_PROXY: 'http://d:1', http_proxy: 'http://c:1', HTTPS_PROXY: 'http://b:1' };
    expect(proxyOf(all)).toMatchObject({ url: 'http://b:1' });
    expect(proxyOf({ ...all, https_proxy: 'http://a:1' })).toMatchObject({ url: 'http://a:1' });
  });

  it('NO_PROXY is kept, and this machine is always asked directly', () => {
    const HTTPS_PROXY = 'http://proxy:3128';
    expect(proxyOf({ HTTPS_PROXY, NO_PROXY: '.corp,10.0.0.1:80' })).toMatchObject({
      noProxy: `.corp,10.0.0.1:80,${THIS_MACHINE}`,
    });
    expect(proxyOf({ HTTPS_PROXY, no_proxy: '*', NO_PROXY: 'x' })).toMatchObject({ noProxy: '*' });
  });

  it.each([
    'proxy:3128',
    'socks5://proxy:1080',
    'http://',
    'http://kdebug@proxy:3128',
    'http://kdebug:se%cret-word@proxy:3128',
    'http://proxy:3128/path',
    'http://proxy:3128?x=1',
    'not a url with secret-word',
  ])('%s is refused at the start, by the name of the variable and without its value', (url) => {
    const problems = proxyOf({ https_proxy: url });
    expect(problems).toEqual([expect.stringMatching(/^https_proxy must be http:\/\/HOST:PORT/)]);
    expect(String(problems)).not.toContain('secret-word');
  });

  it('its password is a secret in both its forms', () => {
    const loaded = load({ HTTPS_PROXY: 'http://kdebug:p%40ss-word@proxy:3128' });
    expect(loaded.kind === 'ok' && secretsOf(loaded.env)).toEqual(expect.arrayContaining(['p%40ss-word', 'p@ss-word']));
  });
});
