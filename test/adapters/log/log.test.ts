import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createLog, type LogLevel } from '../../../src/adapters/log/index.ts';
import { KdebugError } from '../../../src/core/errors.ts';

function aLog(level: LogLevel = 'debug', secrets: readonly string[] = []) {
  const lines: string[] = [];
  const log = createLog({ level, secrets, destination: { write: (line: string) => lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown> };
}

describe('the log', () => {
  it('writes one JSON record a line with a level in words, a UTC time, the message and the fields', () => {
    const { log, lines, last } = aLog();
    log.info('run finished', { runId: 'aaaaaaaaaa', podName: 'nginx-pod-1234', reason: 'two\nlines' });
    expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
    expect(last()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      message: 'run finished',
      runId: 'aaaaaaaaaa',
      podName: 'nginx-pod-1234',
      reason: 'two\nlines',
    });
  });

  it('leaves out what is below its level', () => {
    const { log, lines } = aLog('warn');
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['c', 'd']);
  });

  it('writes an error with its code, its facts and its cause', () => {
    const { log, last } = aLog();
    const cause = new Error('connect ECONNREFUSED');
    log.error('the cluster does not answer', {
      error: new KdebugError('cluster_unreachable', { detail: 'no answer', facts: { cluster: 'prod' }, cause }),
    });
    expect(last().error).toMatchObject({
      code: 'cluster_unreachable',
      detail: 'no answer',
      facts: { cluster: 'prod' },
      cause: { name: 'Error', message: 'connect ECONNREFUSED' },
    });
  });

  it.each([
    'token',
    'botToken',
    'appToken',
    'signingSecret',
    'responseUrl',
    'response_url',
    'authorization',
    'password',
  ])('redacts the field %s wherever a record has it, down to three levels', (field) => {
    const { log, lines } = aLog();
    const secret = { [field]: 'canary-value' };
    log.info('deep', { ...secret, run: { ...secret, origin: { ...secret, more: secret } } });
    expect(lines[0]).not.toContain('canary-value');
    expect(lines[0]?.split('[redacted]')).toHaveLength(5);
  });

  it('redacts known values wherever they stand, in the message and in errors too', () => {
    const { log, lines } = aLog('info', ['s3cret"with\\marks', '']);
    log.info('the value s3cret"with\\marks slipped in', { deep: { list: ['s3cret"with\\marks'] } });
    log.error('broken', { error: new Error('request with s3cret"with\\marks refused') });
    expect(lines.join('')).not.toContain('s3cret');
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  it("redacts what has the shape of Slack's tokens and response addresses", () => {
    const { log, lines } = aLog();
    // Put together here, so that no scanner takes this file for a leak.
    const token = ['xoxb', '123456789012', 'abcDEF'].join('-');
    log.info(`sent ${token}`, { url: 'https://hooks.slack.com/commands/T0/1/abc', app: ['xapp', '1', 'A0'].join('-') });
    expect(lines[0]).not.toMatch(/xoxb-|xapp-|hooks\.slack\.com/);
  });

  it('survives fields that refer to themselves', () => {
    const { log, last } = aLog();
    const loop: Record<string, unknown> = { name: 'loop' };
    loop.self = loop;
    log.info('loop', { loop });
    expect(last().message).toBe('loop');
  });

  it('writes to standard output, nothing to standard error, and loses nothing at an abrupt exit', () => {
    const script = `import { createLog } from './src/adapters/log/index.ts';
      const log = createLog({ level: 'info' });
      for (let index = 0; index < 1000; index += 1) log.error('line', { index });
      process.exit(0);`;
    const output = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
    });
    expect(output.trimEnd().split('\n')).toHaveLength(1000);
  });
});
