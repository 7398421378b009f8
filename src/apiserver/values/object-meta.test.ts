import { describe, expect, it } from 'vitest';
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
} from './object-meta.js';

describe('names of objects', () => {
  it.each(['a', 'a.b', 'a-b.c1', '1'])('%j is a subdomain', (name) => expect(dnsSubdomainProblems(name)).toEqual([]));
  it.each(['', 'A', 'a..b', '-a', 'a_b', 'a.'])('%j is no subdomain', (name) => {
    expect(dnsSubdomainProblems(name)[0]).toContain('a lowercase RFC 1123 subdomain must consist of');
  });

  it('says how long a name may be', () => {
    expect(dnsSubdomainProblems('a'.repeat(254))).toEqual(['must be no more than 253 bytes']);
    expect(dnsLabelProblems('a'.repeat(64))).toEqual(['must be no more than 63 bytes']);
    expect(labelValueProblems('a'.repeat(64))).toEqual(['must be no more than 63 bytes']);
    expect(labelKeyProblems(`x/${'a'.repeat(64)}`)).toEqual(['name part must be no more than 63 bytes']);
  });

  it('tells a dotted name from other bad labels', () => {
    expect(dnsLabelProblems('a.b')).toEqual(['must not contain dots']);
    expect(dnsLabelProblems('A')[0]).toContain('RFC 1123 label');
    expect(dns1035LabelProblems('1a')[0]).toContain('DNS-1035 label');
    expect(dns1035LabelProblems('a1')).toEqual([]);
  });

  it('accepts any path segment that stays one', () => {
    expect(pathSegmentProblems('system:Foo')).toEqual([]);
    expect(pathSegmentProblems('..')).toEqual(["may not be '..'"]);
    expect(pathSegmentProblems('a/b%c')).toEqual(["may not contain '/'", "may not contain '%'"]);
  });

  it('takes no time for long hostile input', () => {
    const startedMs = performance.now();
    dnsSubdomainProblems(`${'a-'.repeat(50_000)}!`);
    dnsSubdomainProblems(`${'a.'.repeat(50_000)}!`);
    labelValueProblems(`${'a-'.repeat(50_000)}!`);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});
