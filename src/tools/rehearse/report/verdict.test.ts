import { describe, expect, it } from 'vitest';
import { findings, half, rehearsal } from './rehearsal.fixture.js';
import { isHarmful, verdictOf } from './verdict.js';

const failed = { beginMs: 0, endMs: 1, exitCode: 1, output: '' };
const clean = (proxy: boolean) => half(proxy, { findings: findings() });

describe('the verdict of a rehearsal', () => {
  it('is good if all harm of the first half is absent with the proxy on', () => {
    const verdict = verdictOf(rehearsal());
    expect(verdict.tone).toBe('good');
    expect(verdict.sentence).toMatch(
      /^With the proxy off clients met 762 wrong 404s, 4 objects deleted by mistake, 2 namespaces ended too early, 1 stuck namespace and \d+ discovery flaps\. With it on: none of it, in [\d,]+ requests\.$/,
    );
  });

  it('is harm if there is any harm with the proxy on', () => {
    const on = half(true, { findings: findings({ wrong404s: 1 }) });
    const verdict = verdictOf(rehearsal({ halves: [half(false), on] }));
    expect(verdict.tone).toBe('harm');
    expect(verdict.sentence).toMatch(/^With the proxy on clients still met 1 wrong 404\. /);
  });

  it.each([
    { collectedByMistake: { bad: 1, of: 2 } },
    { namespacesEndedEarly: { bad: 1, of: 2 } },
    { namespacesStuck: { bad: 1, of: 2 } },
    { discoveryFlaps: 1 },
  ])('counts %o as harm', (changes) => {
    expect(isHarmful(half(true, { findings: findings(changes) }))).toBe(true);
  });

  it.each([{ unavailable503s: 9 }, { otherErrors: 9 }, { brokenWatches: 9 }, { notCollected: { bad: 1, of: 2 } }])(
    'does not count %o as harm',
    (changes) => {
      expect(isHarmful(half(true, { findings: findings(changes) }))).toBe(false);
    },
  );

  it('counts failed runs of the program of the user', () => {
    const on = half(true, { exec: [failed, { ...failed, exitCode: 0 }] });
    expect(verdictOf(rehearsal({ halves: [clean(false), on] }))).toMatchObject({
      tone: 'harm',
      sentence: expect.stringContaining('1 failed run of the own program.'),
    });
  });

  it('is open without a half with the proxy on', () => {
    expect(verdictOf(rehearsal({ halves: [half(false)] }))).toMatchObject({
      tone: 'open',
      sentence: expect.stringContaining('What the proxy does about it was not rehearsed.'),
    });
    expect(verdictOf(rehearsal({ halves: [] })).tone).toBe('open');
    expect(verdictOf(rehearsal({ halves: [clean(true)] })).headline).toBe('No harm with the proxy on');
    expect(verdictOf(rehearsal({ halves: [clean(false), clean(true)] })).headline).toBe(
      'No harm was seen in either half',
    );
  });
});
