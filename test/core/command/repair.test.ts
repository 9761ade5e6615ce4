import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { protectMarkup, repairLine, repairYaml, unwrapMarkup } from '../../../src/core/command/repair.ts';
import { inFullOr } from '../../support/sample.ts';

describe("Slack's markup", () => {
  it.each([
    ['a &amp;&amp; b &lt; c &gt; d', 'a && b < c > d'],
    ['&amp;lt; is decoded once', '&lt; is decoded once'],
    ['&quot; &#39; &AMP; stay', '&quot; &#39; &AMP; stay'],
    ['<http://example.com|example.com>', 'example.com'],
    ['<http://r.example.com/a:1|r.example.com/a:1>', 'r.example.com/a:1'],
    ['<https://example.com/?a=1&amp;b=2>', 'https://example.com/?a=1&b=2'],
    ['<http://example.com|>', 'http://example.com'],
    ['<mailto:a@b.example|a@b.example>', 'a@b.example'],
    ['<mailto:a@b.example>', 'a@b.example'],
    ['<tel:+4930|+4930>', '+4930'],
    ['<@U123ABC|bob> <@W9>', 'U123ABC W9'],
    ['<#C123|general> <#C9>', 'C123 C9'],
    ['<!subteam^S1|@sre> <!here> <!channel|channel>', 'S1 @here @channel'],
    ['a < b <c> <(echo) <@bob>', 'a < b <c> <(echo) <@bob>'],
    ['"in <http://q.example|q.example> quotes &amp; too"', '"in q.example quotes & too"'],
    ['a\u200bb\ufeffc\u202ed\u2066e\u00adf\u{e0041}g', 'abcdefg'],
    ['nul\u0000 esc\u001b[31m del\u007f c1\u009b', 'nul esc[31m del c1'],
    ['one\r\ntwo\rthree\tfour', 'one\ntwo\nthree\tfour'],
    ['half \ud83d pair \ude00\ude00', 'half \ufffd pair \ufffd\ufffd'],
    ['whole 😀 pair', 'whole 😀 pair'],
  ])('%j is undone to %j', (raw, undone) => {
    expect(unwrapMarkup(raw)).toBe(undone);
  });

  it('text that is protected comes back as it was', () => {
    const piece = fc.constantFrom(
      '&',
      'amp;',
      'lt;',
      '<',
      '>',
      '|',
      '@U1',
      '#C1',
      'http://x',
      'mailto:a',
      '!here',
      ' ',
      "'",
      'é',
      '&amp;',
      '<@U1>',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        expect(unwrapMarkup(protectMarkup(pieces.join('')))).toBe(pieces.join(''));
      }),
      { numRuns: inFullOr(2_000, 400), seed: 7 },
    );
  });

  it('text that looks like no markup is protected by being left alone', () => {
    expect(protectMarkup('a && b < c')).toBe('a && b < c');
  });
});

describe('what phones do to a line', () => {
  it.each([
    ['nginx —image=debian', 'nginx --image=debian'],
    ['nginx –image=debian', 'nginx --image=debian'],
    ['nginx −image=debian', 'nginx --image=debian'],
    ['nginx —-image –-target', 'nginx --image --target'],
    ['nginx ——image', 'nginx --image'],
    ['nginx – cat —', 'nginx -- cat --'],
    ['nginx –n shop —l=app', 'nginx -n shop -l=app'],
    ['nginx ‑n shop ‑‑image', 'nginx -n shop --image'],
    ['-n shop --image -x', '-n shop --image -x'],
    ['a–b c—d 1—2 —5 ‑5', 'a–b c—d 1—2 —5 -5'],
    ['--reason=“it hangs”', '--reason="it hangs"'],
    ['--reason=„it hangs“', '--reason="it hangs"'],
    ['--reason=«it hangs»', '--reason="it hangs"'],
    ['--reason=‘it hangs’', "--reason='it hangs'"],
    ['--reason=“it hangs" —all', '--reason="it hangs" --all'],
    ['--reason="it hangs” —all', '--reason="it hangs" --all'],
    ['--reason=“don’t — stop”', '--reason="don’t — stop"'],
    ['--reason="say “hi” now"', '--reason="say “hi” now"'],
    ['--reason=“say \\“hi\\” now”', '--reason="say \\"hi\\" now"'],
    ["sh -c '“a” —b\u00a0c'", "sh -c '“a” —b\u00a0c'"],
    ['it’s 5’0 fine', 'it’s 5’0 fine'],
    ['\\“ \\— stay', '\\“ \\— stay'],
    ['a\u00a0b\u2003c\u202fd\u3000e\u2028f', 'a b c d e f'],
    ['a\u200cb\u200d “👩\u200d💻”', 'ab "👩\u200d💻"'],
    ['open “ended —x', 'open "ended —x'],
    ['plain ascii stays "as it" is', 'plain ascii stays "as it" is'],
  ])('%j is repaired to %j', (typed, repaired) => {
    expect(repairLine(typed)).toBe(repaired);
  });
});

describe('what phones do to YAML', () => {
  it.each([
    ['\n```\na: 1\n```', 'a: 1'],
    ['\n```yaml\na: 1\n  b: 2\n```\n', 'a: 1\n  b: 2'],
    ['```a: 1\nb: 2```', 'a: 1\nb: 2'],
    ['\n```json\n{"a": 1}\n```', '{"a": 1}'],
    ['\n\n  a: 1\n', '  a: 1'],
    ['\n```\na: 1', 'a: 1'],
    ['\na: “x”\nb: ‘y’', 'a: "x"\nb: \'y\''],
    ['\na: "say “hi”"\n# don’t', 'a: "say “hi”"\n# don’t'],
    ['\n- —batch\n- [“—x”]', '- --batch\n- ["--x"]'],
    ['\na: 1\n—-\nb: 2\n—', 'a: 1\n---\nb: 2\n---'],
    ['\na:\u00a01\u200d', 'a: 1'],
    ['\n \n', ''],
    ['\nargs:\n• a\n• b', 'args:\n- a\n- b'],
    ['\na:\n  • name: x\n    args:\n    ◦ y\n        ▪︎ z', 'a:\n  - name: x\n    args:\n    - y\n        - z'],
    // As Slack's composer indents them: four spaces a level.
    ['\na:\n    ◦ b:\n      c: d\n        ▪︎ e\n            • f', 'a:\n  - b:\n      c: d\n    - e\n      - f'],
    ['\na:\n\u00a0\u00a0•\u00a0b', 'a:\n  - b'],
    ['\n```\n• a: 1\n  b: “•”\n```', '- a: 1\n  b: "•"'],
    ['\na: • b\nc: d •', 'a: • b\nc: d •'],
  ])('%j is repaired to %j', (typed, repaired) => {
    expect(repairYaml(typed)).toBe(repaired);
  });

  it('a repaired document is not changed by another repair', () => {
    const piece = fc.constantFrom(
      '```',
      '\n',
      ' ',
      '—',
      '-',
      'a',
      ':',
      '“',
      '"',
      '’',
      "'",
      '‘',
      '[',
      ',',
      '\u00a0',
      '\u200d',
      '\t',
      '•',
      '▪︎',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const once = repairYaml(pieces.join(''));
        expect(repairYaml(`\n\`\`\`\n${once}\n\`\`\``)).toBe(once);
      }),
      { numRuns: inFullOr(3_000, 500), seed: 11 },
    );
  });
});
