import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { verifyChain } from './certificate-chain.js';
import { X509_LIMBO_DEVIATIONS } from './x509-limbo.fixture.js';

/** Path of the JSON file of C2SP/x509-limbo, which is not part of this repository. */
const FILE = process.env['STRADDLE_X509_LIMBO'] ?? '';

interface LimboCase {
  readonly id: string;
  readonly validation_kind: 'CLIENT' | 'SERVER';
  readonly trusted_certs: readonly string[];
  readonly untrusted_intermediates: readonly string[];
  readonly peer_certificate: string;
  readonly validation_time: string | null;
  readonly expected_result: 'SUCCESS' | 'FAILURE';
}

describe('the deviations from x509-limbo', () => {
  const ids = X509_LIMBO_DEVIATIONS.flatMap(({ cases }) => cases);

  it('are listed without duplicates', () => {
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('include nothing that Straddle accepts and Go refuses', () => {
    expect(X509_LIMBO_DEVIATIONS.filter(({ straddle, go }) => straddle === 'accepts' && go === 'refuses')).toEqual([]);
  });
});

if (FILE === '') it.skip('x509-limbo is skipped: STRADDLE_X509_LIMBO does not name its JSON file', () => {});
else describe('x509-limbo', againstLimbo);

function againstLimbo(): void {
  const cases = (JSON.parse(readFileSync(FILE, 'utf8')) as { testcases: LimboCase[] }).testcases;
  const deviations = new Map(
    X509_LIMBO_DEVIATIONS.flatMap((deviation) => deviation.cases.map((id) => [id, deviation] as const)),
  );

  it('has every case that is listed as a deviation', () => {
    expect(cases.length).toBeGreaterThan(100);
    const known = new Set(cases.map(({ id }) => id));
    expect([...deviations.keys()].filter((id) => !known.has(id))).toEqual([]);
  });

  it.each(cases)('$id: $expected_result, unless listed as a deviation', (limbo) => {
    const { verdict, why } = verdictOf(limbo);
    const deviation = deviations.get(limbo.id);
    if (deviation === undefined) {
      expect(verdict, `not listed as a deviation; Straddle's reason: ${why}`).toBe(limbo.expected_result);
      return;
    }
    expect(verdict, `agrees now; take it off the list "${deviation.reason}"`).not.toBe(limbo.expected_result);
    expect(verdict).toBe(deviation.straddle === 'accepts' ? 'SUCCESS' : 'FAILURE');
  });
}

function verdictOf(limbo: LimboCase): { verdict: LimboCase['expected_result']; why: string } {
  const chain = [limbo.peer_certificate, ...limbo.untrusted_intermediates].map(derOf);
  const roots = limbo.trusted_certs.map((pem) => new X509Certificate(derOf(pem)));
  const nowMs = limbo.validation_time === null ? Date.now() : Date.parse(limbo.validation_time);
  const found = verifyChain(chain, roots, nowMs, limbo.validation_kind === 'CLIENT' ? 'client' : 'server');
  return found.ok ? { verdict: 'SUCCESS', why: 'accepted' } : { verdict: 'FAILURE', why: found.reason };
}

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ''), 'base64');
}
