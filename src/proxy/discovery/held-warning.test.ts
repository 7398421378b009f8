import { describe, expect, it } from 'vitest';
import { heldWarning } from './held-warning.js';
import { group, resource, server, surfaceOf, version } from './surface.fixture.js';

const serving = (...groups: string[]) =>
  surfaceOf(groups.map((name) => group(name, version('v1', resource('things')))));

describe('the warning about versions that only departed servers served', () => {
  it('names them and those servers', () => {
    const servers = [server('a', serving('apps')), server('b', serving('apps', 'storagemigration.k8s.io'), true)];
    expect(heldWarning(servers, 'groups')).toBe(
      '299 - "storagemigration.k8s.io/v1 is held: no server serves it since b went away, and requests for it are answered 503"',
    );
  });

  it('is not there while live servers serve all versions, or for the other root', () => {
    expect(heldWarning([server('a', serving('apps')), server('b', serving('apps'), true)], 'groups')).toBeUndefined();
    expect(heldWarning([server('a', serving('apps')), server('b', serving('batch'))], 'groups')).toBeUndefined();
    expect(heldWarning([server('b', serving('batch'), true)], 'core')).toBeUndefined();
  });

  it('names five versions and servers at most, in the order of names whoever asks', () => {
    const gone = Array.from({ length: 9 }, (_, index) => server(`s${index}`, serving(`g${index}`), true));
    const text = heldWarning(gone, 'groups');
    expect(text).toContain('"g0/v1, g1/v1, g2/v1, g3/v1, g4/v1 and 4 more are held: no server serves them since s0, ');
    expect(text).toContain(' s4 and 4 more went away, ');
    expect(heldWarning(gone.toReversed(), 'groups')).toBe(text);
  });

  it('is one header of ASCII, whatever the names have in them', () => {
    const name = `x"\r\nSet-Cookie: a\\\u202e${'y'.repeat(10_000)}`;
    const text = heldWarning([server(name, serving(name), true)], 'groups')!;
    expect(text).toMatch(/^299 - "[\x20-\x21\x23-\x5b\x5d-\x7e]+"$/);
    expect(text.length).toBeLessThan(1_000);
  });
});
