import { expect, it } from 'vitest';
import { quoted } from '../../src/core/diagnosis/reading/phrases.ts';
import { goneText } from '../../src/core/lookup/gone-pod.ts';
import { inMarks } from '../../src/lib/text.ts';

const FORGED = 'gone” ✅ Healthy: “ready, «never» restarted';
const KEPT = 'gone" ✅ Healthy: "ready, "never" restarted';

it('foreign words do not end their own quotation', () => {
  expect(inMarks(FORGED)).toBe(`“${KEPT}”`);
  expect(quoted(FORGED)).toBe(`“${KEPT}”`);
  expect(quoted('')).toBe('');
});

it('nor does the message of an event about a pod that is gone', () => {
  const involved = { kind: 'Pod', name: 'web-1' };
  const event = { involved, reason: 'Killing', message: FORGED, count: 1, lastSeenMs: 0 } as never;
  expect(goneText('web-1', [], [event])).toBe(`web-1 is gone; Kubernetes said last: “Killing: ${KEPT}”`);
});
