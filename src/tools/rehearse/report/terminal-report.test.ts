import { describe, expect, it } from 'vitest';
import { NO_COLORS, terminalColors } from '../../../base/terminal-colors.js';
import { findings, half, rehearsal } from './rehearsal.fixture.js';
import { terminalReport } from './terminal-report.js';

const plain = NO_COLORS;
const lineOf = (text: string, start: string) => text.split('\n').find((line) => line.startsWith(start))!;

describe('the terminal report', () => {
  it('shows both halves side by side, with marks that need no colour', () => {
    const text = terminalReport(rehearsal(), plain);
    expect(text).toMatch(/^ +proxy off +proxy on$/m);
    expect(lineOf(text, 'Wrong 404s')).toMatch(/^Wrong 404s +✗ 762 +✓ 0$/);
    expect(lineOf(text, 'Objects deleted by mistake')).toMatch(/✗ 4 of 24 +✓ 0 of 24$/);
    expect(lineOf(text, '503s')).toMatch(/! \d+ +! \d+$/);
    expect(lineOf(text, 'Latency, all requests')).toMatch(/2\.3 \/ 18 ms +2\.7 \/ 21 ms \(\+0\.41 \/ \+3\.2 ms\)$/);
    const columns = ['Wrong 404s', 'Discovery flaps', 'Namespaces stuck'].map((each) =>
      lineOf(text, each).indexOf('✓'),
    );
    expect(new Set(columns).size).toBe(1);
  });

  it('lists what differs, how it is exercised, and why the rest is not', () => {
    const text = terminalReport(rehearsal({ notes: ['No namespaced resource differs.'] }), plain);
    expect(text).toContain(
      `
Only 1.37 serves
  podcertificaterequests.v1.certificates.k8s.io   requests, watches, owners, namespaces
  csinodes.v1.storage.k8s.io/status               requests
  evictionrequests.v1.coordination.k8s.io         not exercised: 1.37 refuses an object of it (422 spec.target: Required value); put one into --manifests
No namespaced resource differs.
`,
    );
  });

  it('prints the meaning of a row only if it has a finding', () => {
    const off = terminalReport(rehearsal({ halves: [half(false)] }), plain);
    expect(off).toContain('a garbage collector was told 404');
    const on = terminalReport(rehearsal({ halves: [half(true)] }), plain);
    expect(on).not.toContain('a garbage collector was told 404');
    expect(on).not.toContain('proxy off');
  });

  it('counts the failures of a second for the step in which its middle is', () => {
    const seconds = half(false).seconds.map((each, index) => ({
      ...each,
      wrong404s: index >= 10 && index <= 13 ? 10 ** (index - 10) : 0,
      unavailable503s: index === 10 ? 2 : 0,
      discoveryFlaps: index === 10 ? 1 : 0,
    }));
    const text = terminalReport(rehearsal({ halves: [half(false, { seconds }), half(true)] }), plain);
    // From 10.0 to 13.4 s: 10, 11 and 12 are its seconds, and 13 is that of the hold after it.
    expect(lineOf(text, 'upgrade server-1 to 1.37')).toMatch(
      /0:10–0:13 {2}111 wrong 404s {2}2 × 503 {2}1 flap +0:10–0:13/,
    );
    expect(text).toMatch(/^hold +0:13–0:23 {2}1,000 wrong 404s +0:13–0:23/m);
    expect(text.match(/^hold /gm)).toHaveLength(7);
  });

  it('shows three examples of a kind at most, each on one line', () => {
    const examples = Array.from({ length: 9 }, (_, index) => ({
      atMs: index * 1_000,
      kind: 'wrong-404' as const,
      text: `GET /n/${index}: 404\nand ${'more '.repeat(100)}`,
    }));
    const text = terminalReport(rehearsal({ halves: [half(false, { examples })] }), plain);
    const shown = text.split('\n').filter((line) => line.includes('GET /n/'));
    expect(shown).toHaveLength(3);
    expect(shown[0]).toMatch(/^ {4}0:00 {2}GET \/n\/0: 404 and more .*…$/);
  });

  it('replaces terminal control sequences in text of servers and programs', () => {
    const hostile = '\x1b[2J\x1b]0;title\x07\x9b31m\u202eevil\r\n\x00';
    const text = terminalReport(
      rehearsal({
        made: hostile,
        differences: [{ name: hostile, servedBy: hostile, exercises: [], reason: hostile }],
        notes: [hostile],
        halves: [
          half(false, {
            steps: [{ name: hostile, beginMs: 0, endMs: 1 }],
            examples: [{ atMs: 0, kind: 'other-error', text: hostile }],
            exec: [{ beginMs: 0, endMs: 1, exitCode: 3, output: hostile }],
          }),
        ],
      }),
      plain,
    );
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
    expect(text).toContain('evil');
  });

  it('has colours only if they are requested', () => {
    expect(terminalReport(rehearsal(), terminalColors({ isTerminal: true, environment: {} }))).toContain(
      '\x1b[31m✗ 762',
    );
    expect(terminalReport(rehearsal(), plain)).not.toContain('\x1b');
  });

  it('shows the last lines of output of a failed program', () => {
    const exec = [
      { beginMs: 0, endMs: 2_000, exitCode: 0, output: 'fine' },
      { beginMs: 3_000, endMs: 5_000, exitCode: 1, output: `${'x\n'.repeat(50)}1 test failed\n` },
    ];
    const text = terminalReport(rehearsal({ halves: [half(true, { exec })] }), plain);
    expect(text).toContain('Own program, proxy on: 1 of 2 runs failed\n  0:03–0:05: exit code 1\n');
    expect(text).toContain('    1 test failed\n');
    expect(text.match(/^ {4}x$/gm)).toHaveLength(9);
    expect(lineOf(text, 'Own program failed')).toMatch(/✗ 1 of 2$/);
  });

  it('does not mark a count as clean if nothing was observed', () => {
    const unwatched = findings({ collectedByMistake: { bad: 0, of: 0 } });
    const text = terminalReport(rehearsal({ halves: [half(true, { findings: unwatched })] }), plain);
    expect(lineOf(text, 'Objects deleted by mistake')).toMatch(/mistake +–$/);
  });

  it('pairs the steps of a half that was cut short with those of the other', () => {
    const short = half(true);
    const text = terminalReport(
      rehearsal({ halves: [half(false), { ...short, steps: short.steps.slice(0, 2) }] }),
      plain,
    );
    expect(lineOf(text, 'roll server-1 back')).toMatch(/1:17–1:20 .* –$/);
  });
});
