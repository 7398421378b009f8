import { describe, expect, it } from 'vitest';
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
} from './object-meta.js';

describe('validation of object names', () => {
  it.each(['a', 'a.b', 'a-b.c1', '1'])('accepts %j as a subdomain', (name) =>
    expect(dnsSubdomainProblems(name)).toEqual([]),
  );
  it.each(['', 'A', 'a..b', '-a', 'a_b', 'a.'])('refuses %j as a subdomain', (name) => {
    expect(dnsSubdomainProblems(name)[0]).toContain('a lowercase RFC 1123 subdomain must consist of');
  });

  it('returns the length limit for names that are too long', () => {
    expect(dnsSubdomainProblems('a'.repeat(254))).toEqual(['must be no more than 253 bytes']);
    expect(dnsLabelProblems('a'.repeat(64))).toEqual(['must be no more than 63 bytes']);
    expect(labelValueProblems('a'.repeat(64))).toEqual(['must be no more than 63 bytes']);
    expect(labelKeyProblems(`x/${'a'.repeat(64)}`)).toEqual(['name part must be no more than 63 bytes']);
  });

  it('has a special message for dots in a label', () => {
    expect(dnsLabelProblems('a.b')).toEqual(['must not contain dots']);
    expect(dnsLabelProblems('A')[0]).toContain('RFC 1123 label');
    expect(dns1035LabelProblems('1a')[0]).toContain('DNS-1035 label');
    expect(dns1035LabelProblems('a1')).toEqual([]);
  });

  it('accepts any path segment without a slash or a percent sign, except for two dots', () => {
    expect(pathSegmentProblems('system:Foo')).toEqual([]);
    expect(pathSegmentProblems('..')).toEqual(["may not be '..'"]);
    expect(pathSegmentProblems('a/b%c')).toEqual(["may not contain '/'", "may not contain '%'"]);
  });

  it('ends in less than a second for long hostile input', () => {
    const startedMs = performance.now();
    dnsSubdomainProblems(`${'a-'.repeat(50_000)}!`);
    dnsSubdomainProblems(`${'a.'.repeat(50_000)}!`);
    labelValueProblems(`${'a-'.repeat(50_000)}!`);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});
