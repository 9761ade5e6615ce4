import { describe, expect, it } from 'vitest';
import { openInspector } from '../../../../src/core/diagnosis/images/open-inspector.ts';

const ENDED_MS = Date.parse('2026-11-24T10:19:45.300Z');
const opened = (id: number | string, until = '10:20:33') =>
  `The inspector of process ${id} is open until ${until} UTC at the latest.`;
const closed = (id: number) => `The inspector of process ${id} is closed.`;
const textOf = (lines: readonly string[], endedAtMs = ENDED_MS) => openInspector(lines.join('\n'), endedAtMs)?.text;

describe('the inspector of a target', () => {
  it('may be open where the log says that it was opened, and not that it was closed', () => {
    expect(openInspector(['kdebug stacks', opened(12), ''].join('\n'), ENDED_MS)).toEqual({
      text: 'The inspector of process 12 may be open until 10:20:33 UTC',
      next: 'It closes without help by then. Run stacks again after that to see that it is closed.',
      rank: 2,
    });
    expect(textOf([opened(12), closed(7)])).toContain('process 12 may');
    expect(textOf([opened(12), closed(12), opened(12, '10:21:00')])).toContain('10:21:00');
  });

  it('is closed where the log says so, and where its time was over before the look ended', () => {
    expect(textOf([opened(12), closed(12)])).toBeUndefined();
    expect(textOf([opened(12, '10:19:44')])).toBeUndefined();
    expect(textOf(['nothing of the kind'])).toBeUndefined();
  });

  it('is that of the process alone, where there were several', () => {
    expect(textOf([opened(12), opened(15, '10:20:40'), closed(12)])).toContain('inspector of process 15 may');
    expect(textOf([opened(12), opened(15, '10:20:40')])).toBe(
      'The inspectors of processes 12, 15 may be open until 10:20:40 UTC',
    );
  });

  it('may be open beyond midnight', () => {
    const beforeMidnight = Date.parse('2026-11-24T23:59:50Z');
    expect(textOf([opened(12, '00:00:20')], beforeMidnight)).toContain('until 00:00:20 UTC');
  });

  it.each([
    ['a time far from the end', opened(12, '11:30:00')],
    ['a time of no day', opened(12, '24:00:00')],
    ['words around it', `web: ${opened(12)}`],
    ['words behind it', `${opened(12)} Click here.`],
    ['a process that is none', opened('<!channel>')],
    ['a process with too many digits', opened('12345678')],
  ])('is not told by %s', (_what, line) => {
    expect(textOf([line])).toBeUndefined();
  });
});
