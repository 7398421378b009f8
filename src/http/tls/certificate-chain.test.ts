import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClientChain, PATH_CERTIFICATES_MAX, SIGNATURE_CHECKS_MAX, verifyChain } from './certificate-chain.js';
import {
  extension,
  issue,
  makeCa,
  makeClient,
  makeIntermediate,
  OID,
  oid,
  rsaPublicKey,
  SERVER_AUTH,
  sequence,
  type TestCertificate,
  tlv,
} from './pki.fixture.js';

const ca = makeCa('ca');
const roots = [ca.x509];
const now = Date.now();
const DAY_MS = 86_400_000;

function verify(chain: readonly TestCertificate[], bundle: readonly X509Certificate[] = roots, nowMs = now) {
  return verifyChain(
    chain.map(({ der }) => der),
    bundle,
    nowMs,
  );
}

const refused = (reason: RegExp) => ({ ok: false, reason: expect.stringMatching(reason) });

describe('verifyChain', () => {
  it('accepts a leaf that an authority of the bundle issued, until it expires', () => {
    const notAfter = new Date(Math.floor(now / 1000) * 1000 + DAY_MS);
    const leaf = makeClient(ca, { cn: 'jane', notAfter });
    expect(verify([leaf])).toEqual({ ok: true, notAfterMs: notAfter.getTime() });
    expect(verify([leaf], roots, notAfter.getTime() + 1)).toEqual(refused(/^expired at \d{4}-/));
  });

  it('refuses another authority of the same name', () => {
    expect(verify([makeClient(makeCa('ca'), { cn: 'jane' })])).toEqual(refused(/unknown authority/));
  });

  it('accepts a leaf of the last of many authorities of the same name', () => {
    const authorities = Array.from({ length: 2 * SIGNATURE_CHECKS_MAX }, () => makeCa('kubernetes'));
    const leaf = makeClient(authorities.at(-1)!, { cn: 'jane' });
    const bundle = authorities.map(({ x509 }) => x509);
    expect(verify([leaf], bundle)).toMatchObject({ ok: true });
  });

  it('refuses a self-signed certificate unless it is in the bundle', () => {
    const self = issue(undefined, { cn: 'jane' });
    expect(verify([self])).toEqual(refused(/unknown authority/));
    expect(verify([self], [self.x509])).toMatchObject({ ok: true });
  });

  it('refuses a certificate that does not begin to be valid yet', () => {
    const leaf = makeClient(ca, { cn: 'jane', notBefore: new Date(now + DAY_MS) });
    expect(verify([leaf])).toEqual(refused(/^not valid before/));
  });

  it('refuses a changed certificate', () => {
    const leaf = makeClient(ca, { cn: 'jane-doe' });
    const changed = Buffer.from(leaf.der);
    changed.write('root-doe', changed.indexOf('jane-doe'));
    expect(verifyChain([changed], roots, now)).toEqual(refused(/unknown authority/));
  });

  it('refuses a forged certificate with a genuine certificate inside it', () => {
    const genuine = makeClient(ca, { cn: 'jane' });
    const text = extension('1.2.3.4', false, Buffer.from(`\n${genuine.pem}\n`));
    const attacker = issue({ ...makeCa('x'), subjectDer: ca.subjectDer }, { cn: 'root', extensions: [text] });
    // The premise: Node reads, and would verify, the inner certificate.
    const asNodeReadsIt = new X509Certificate(attacker.der);
    expect(asNodeReadsIt.subject).toBe('CN=jane');
    expect(asNodeReadsIt.verify(ca.x509.publicKey)).toBe(true);
    expect(verify([attacker])).toEqual(refused(/certificate inside a certificate/));
  });

  it('requires clientAuth if extended key usages are present, in authorities too', () => {
    expect(verify([issue(ca, { cn: 'jane' })])).toMatchObject({ ok: true });
    expect(verify([makeClient(ca, { cn: 'jane', extendedKeyUsages: ['2.5.29.37.0'] })])).toMatchObject({ ok: true });
    const server = makeClient(ca, { cn: 'jane', extendedKeyUsages: [SERVER_AUTH] });
    expect(verify([server])).toEqual(refused(/client authentication/));
    const serversOnly = makeIntermediate(ca, 'servers', { extendedKeyUsages: [SERVER_AUTH] });
    expect(verify([makeClient(serversOnly, { cn: 'jane' }), serversOnly])).toEqual(refused(/client authentication/));
  });

  it('builds a path from intermediates in any order, with unrelated certificates between them', () => {
    const one = makeIntermediate(ca, 'one');
    const two = makeIntermediate(one, 'two');
    const leaf = makeClient(two, { cn: 'jane' });
    expect(verify([leaf, makeCa('stranger'), one, two])).toMatchObject({ ok: true });
    expect(verify([leaf, one])).toEqual(refused(/unknown authority/));
  });

  it('returns the earliest expiry of the certificates of the path', () => {
    const notAfter = new Date(Math.floor(now / 1000) * 1000 + DAY_MS);
    const short = makeIntermediate(ca, 'short', { notAfter });
    expect(verify([makeClient(short, { cn: 'jane' }), short])).toEqual({ ok: true, notAfterMs: notAfter.getTime() });
  });

  it('refuses an expired intermediate and an expired root', () => {
    const old = makeIntermediate(ca, 'old', { notAfter: new Date(now - DAY_MS) });
    expect(verify([makeClient(old, { cn: 'jane' }), old])).toEqual(refused(/issuer can't be used: expired/));
    const oldCa = makeCa('old ca', { notAfter: new Date(now - DAY_MS) });
    expect(verify([makeClient(oldCa, { cn: 'jane' })], [oldCa.x509])).toEqual(refused(/issuer can't be used: expired/));
  });

  it('refuses a certificate that is signed by a client certificate', () => {
    const jane = makeClient(ca, { cn: 'jane' });
    expect(verify([makeClient(jane, { cn: 'root' }), jane])).toEqual(refused(/not a certificate authority/));
    const notCa = issue(ca, { cn: 'not-ca', isCa: false, keyUsage: 0x04 });
    expect(verify([makeClient(notCa, { cn: 'root' }), notCa])).toEqual(refused(/not a certificate authority/));
    expect(verify([makeClient(jane, { cn: 'root' })], [jane.x509])).toEqual(refused(/not a certificate authority/));
  });

  it('accepts a version 1 root, as Go does, and refuses a version 1 intermediate', () => {
    const oldRoot = issue(undefined, { cn: 'v1', version: 1 });
    expect(verify([makeClient(oldRoot, { cn: 'jane' })], [oldRoot.x509])).toMatchObject({ ok: true });
    const oldLink = issue(ca, { cn: 'v1', version: 1 });
    expect(verify([makeClient(oldLink, { cn: 'jane' }), oldLink])).toEqual(refused(/not a certificate authority/));
  });

  it('refuses an issuer whose key usage is not for certificates', () => {
    const wrong = makeIntermediate(ca, 'wrong', { keyUsage: 0x80 });
    expect(verify([makeClient(wrong, { cn: 'jane' }), wrong])).toEqual(refused(/key usage/));
  });

  it('enforces the path length constraint of each authority', () => {
    const strict = makeCa('strict', { pathLengthMax: 0 });
    expect(verify([makeClient(strict, { cn: 'jane' })], [strict.x509])).toMatchObject({ ok: true });
    const link = makeIntermediate(strict, 'link');
    expect(verify([makeClient(link, { cn: 'jane' }), link], [strict.x509])).toEqual(refused(/path length/));
  });

  it('refuses unknown critical extensions', () => {
    const odd = extension('1.2.3.4.5', true, tlv(0x05));
    expect(verify([makeClient(ca, { cn: 'jane', extensions: [odd] })])).toEqual(refused(/1\.2\.3\.4\.5/));
    const ignorable = extension('1.2.3.4.5', false, tlv(0x05));
    expect(verify([makeClient(ca, { cn: 'jane', extensions: [ignorable] })])).toMatchObject({ ok: true });
  });

  it('refuses a duplicate extension', () => {
    const twice = extension('1.2.3.4.5', false, tlv(0x05));
    const leaf = makeClient(ca, { cn: 'jane', extensions: [twice, twice] });
    expect(verify([leaf])).toEqual(refused(/twice/));
  });

  it('refuses name constraints where alternative names would have to be checked', () => {
    const constraints = extension('2.5.29.30', true, sequence(tlv(0xa0, sequence(tlv(0x82, Buffer.from('example'))))));
    const narrow = makeIntermediate(ca, 'narrow', { extensions: [constraints] });
    expect(verify([makeClient(narrow, { cn: 'jane' }), narrow])).toMatchObject({ ok: true });
    const named = makeClient(narrow, { cn: 'jane', dnsNames: ['other'] });
    expect(verify([named, narrow])).toEqual(refused(/name constraints/));
  });

  it('refuses SHA-1 signatures', () => {
    expect(verify([makeClient(ca, { cn: 'jane', weakSignature: true })])).toEqual(refused(/insecure/));
  });

  it('bounds the length of a path', () => {
    const links = [makeIntermediate(ca, 'link 0')];
    while (links.length < PATH_CERTIFICATES_MAX - 2)
      links.push(makeIntermediate(links.at(-1)!, `link ${links.length}`));
    expect(verify([makeClient(links.at(-1)!, { cn: 'jane' }), ...links])).toMatchObject({ ok: true });
    links.push(makeIntermediate(links.at(-1)!, 'last link'));
    expect(verify([makeClient(links.at(-1)!, { cn: 'jane' }), ...links])).toEqual(refused(/in a path/));
  });

  it('bounds the work for certificates that may all have issued each other', () => {
    const same = makeCa('same');
    const many = Array.from({ length: 9 }, () => makeIntermediate(same, 'same'));
    expect(SIGNATURE_CHECKS_MAX).toBeLessThan(100);
    expect(verify([makeClient(same, { cn: 'jane' }), ...many])).toMatchObject({ ok: false });
    // Really signed each other: the number of paths grows without the bound.
    const key = { ...same };
    const cross = Array.from({ length: 9 }, () => ({ ...issue(key, { cn: 'same', isCa: true }), key: same.key }));
    expect(verify([makeClient(same, { cn: 'jane' }), ...cross])).toMatchObject({ ok: false });
  });

  it('refuses an empty chain, an empty bundle and malformed bytes', () => {
    expect(verify([])).toEqual(refused(/no certificate/));
    expect(verify([makeClient(ca, { cn: 'jane' })], [])).toEqual(refused(/no certificate authority/));
    expect(verifyChain([Buffer.from('garbage')], roots, now)).toEqual(refused(/malformed/));
  });
});

describe('verifyChain, like Go,', () => {
  const directoryName = tlv(0xa4, sequence(tlv(0x31, sequence(oid(OID.o), tlv(0x0c, Buffer.from('team-a'))))));
  const constrainedTo = (...bases: readonly Uint8Array[]) =>
    sequence(tlv(0xa0, ...bases.map((base) => sequence(base))));

  it.each([
    ['a critical extension', true],
    ['an extension that is not critical', false],
  ])('refuses a certificate below an authority that is constrained to directory names by %s', (_, critical) => {
    const narrow = extension('2.5.29.30', critical, constrainedTo(directoryName));
    const teamCa = makeIntermediate(ca, 'team-a', { extensions: [narrow] });
    const leaf = makeClient(teamCa, { cn: 'jane', organizations: ['system:masters'] });
    expect(verify([leaf, teamCa])).toEqual(refused(/name constraints of a kind that is not supported/));
  });

  it.each([
    ['none', sequence()],
    ['empty ones', sequence(tlv(0xa0), tlv(0xa1))],
    ['one that is NULL', sequence(tlv(0x05))],
  ])('refuses a certificate below an authority whose name constraints are malformed (%s)', (_, constraints) => {
    const odd = makeIntermediate(ca, 'odd', { extensions: [extension('2.5.29.30', true, constraints)] });
    expect(verify([makeClient(odd, { cn: 'jane' }), odd])).toMatchObject({ ok: false });
  });

  it.each([
    ['RSA of 512 bits', () => generateKeyPairSync('rsa', { modulusLength: 512 }), /fewer than 1024 bits/],
    ['P-192', () => generateKeyPairSync('ec', { namedCurve: 'prime192v1' }), /elliptic curve/],
    ['secp256k1', () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' }), /elliptic curve/],
  ])(
    'refuses a certificate signed by an authority with a key of %s, in the bundle or sent by the client',
    (_, keys, reason) => {
      const root = makeCa('weak', { keys: keys() });
      expect(verify([makeClient(root, { cn: 'jane' })], [root.x509])).toEqual(refused(reason));
      const link = makeIntermediate(ca, 'weak link', { keys: keys() });
      expect(verify([makeClient(link, { cn: 'jane' }), link])).toEqual(refused(reason));
    },
  );

  it('refuses a certificate signed by an authority whose key is for RSA-PSS alone', () => {
    const root = makeCa('pss', { keys: generateKeyPairSync('rsa-pss', { modulusLength: 2_048 }) });
    const leaf = makeClient(root, { cn: 'jane', rsaSignature: Buffer.alloc(256) });
    expect(verify([leaf], [root.x509])).toEqual(refused(/public keys of type 1\.2\.840\.113549\.1\.1\.10/));
  });

  it('refuses a certificate below an authority with policy constraints, critical or not', () => {
    const requireExplicitPolicy = sequence(tlv(0x80, Buffer.of(0)));
    for (const critical of [true, false]) {
      const strict = makeIntermediate(ca, 'strict', {
        extensions: [extension('2.5.29.36', critical, requireExplicitPolicy)],
      });
      expect(verify([makeClient(strict, { cn: 'jane' }), strict])).toEqual(refused(/extension 2\.5\.29\.36 is not/));
    }
  });

  it('refuses a certificate of version 2 with extensions, as authority and as leaf', () => {
    const link = makeIntermediate(ca, 'v2', { version: 2 });
    expect(verify([makeClient(link, { cn: 'jane' }), link])).toMatchObject({ ok: false });
    expect(verify([makeClient(ca, { cn: 'jane', version: 2 })])).toEqual(
      refused(/extensions in a certificate of vers/),
    );
  });

  it.each([
    ['key identifier of the issuer', '2.5.29.35', sequence()],
    ['key identifier of the subject', '2.5.29.14', tlv(0x04, Buffer.of(1))],
    ['authority information', '1.3.6.1.5.5.7.1.1', sequence()],
  ])('refuses %s in a critical extension', (_, type, value) => {
    const leaf = (critical: boolean) => makeClient(ca, { cn: 'jane', extensions: [extension(type, critical, value)] });
    expect(verify([leaf(true)])).toEqual(refused(/may not be critical/));
    expect(verify([leaf(false)])).toMatchObject({ ok: true });
  });

  it.each([
    ['negative', Buffer.of(0xff)],
    ['empty', Buffer.of()],
    ['not in its shortest form', Buffer.of(0, 1)],
  ])('refuses a certificate whose serial number is %s', (_, serial) => {
    expect(verify([makeClient(ca, { cn: 'jane', serial })])).toEqual(refused(/malformed certificate: .*serial number/));
  });

  it.each([
    ['is no list', tlv(0x04)],
    ['has a DNS name that is not ASCII', sequence(tlv(0x82, Buffer.from('\u00e4.example')))],
    ['has an e-mail address that is not ASCII', sequence(tlv(0x81, Buffer.from('\u00e4@example')))],
    ['has a URI that is not ASCII', sequence(tlv(0x86, Buffer.from('urn:\u00e4')))],
    ['has an IP address of five octets', sequence(tlv(0x87, Buffer.alloc(5)))],
  ])('refuses a certificate whose alternative name %s', (_, names) => {
    const leaf = makeClient(ca, { cn: 'jane', extensions: [extension('2.5.29.17', false, names)] });
    expect(verify([leaf])).toEqual(refused(/malformed certificate: .*alternative name/));
  });

  it('refuses a critical alternative name of an unknown kind', () => {
    const other = sequence(tlv(0xa0, oid('1.2.3'), tlv(0xa0, tlv(0x0c, Buffer.from('x')))));
    const leaf = (critical: boolean) =>
      makeClient(ca, { cn: 'jane', extensions: [extension('2.5.29.17', critical, other)] });
    expect(verify([leaf(true)])).toEqual(refused(/critical extension 2\.5\.29\.17 is not understood/));
    expect(verify([leaf(false)])).toMatchObject({ ok: true });
  });

  it('refuses malformed authority information', () => {
    for (const value of [tlv(0x04), sequence(tlv(0x05)), sequence(sequence(tlv(0x86, Buffer.from('http://x'))))]) {
      const leaf = makeClient(ca, { cn: 'jane', extensions: [extension('1.3.6.1.5.5.7.1.1', false, value)] });
      expect(verify([leaf])).toEqual(refused(/^malformed certificate/));
    }
  });
});

describe('verifyChain, given a hostile chain of a client,', () => {
  const checks = vi.spyOn(X509Certificate.prototype, 'verify');
  beforeEach(() => void checks.mockClear());
  afterAll(() => checks.mockRestore());

  /** Issuer and subject of the intermediates are the same, so that each may have issued every other. */
  function lookAlikes(count: number, publicKeyDer: () => Uint8Array | undefined, issuer = makeCa('look-alike')) {
    return Array.from({ length: count }, () => {
      const key = publicKeyDer();
      const rsaSignature = Buffer.alloc(384, 0x55);
      return issue(issuer, { cn: 'look-alike', isCa: true, ...(key ? { publicKeyDer: key, rsaSignature } : {}) });
    });
  }

  const slowKey = () => rsaPublicKey({ modulusBits: 3_072, exponentBits: 3_071 });

  it('checks no signature with a long RSA public exponent', () => {
    const issuer = makeCa('look-alike');
    const rsaSignature = Buffer.alloc(384, 0x55);
    const leaf = makeClient(issuer, { cn: 'jane', publicKeyDer: slowKey(), rsaSignature });
    expect(verify([leaf, ...lookAlikes(7, slowKey, issuer)])).toEqual(refused(/public exponent .* too large/));
    const ordinary = makeClient(issuer, { cn: 'jane', rsaSignature });
    expect(verify([ordinary, ...lookAlikes(7, slowKey, issuer)])).toEqual(
      refused(/issuer can't be used: the public exponent .* too large/),
    );
    expect(checks).not.toHaveBeenCalled();
  });

  it('checks no signature with a key that no trusted key has signed', () => {
    const issuer = makeCa('look-alike');
    const chain = [makeClient(issuer, { cn: 'jane' }), ...lookAlikes(7, () => undefined, issuer)];
    expect(verify(chain)).toEqual({ ok: false, reason: expect.any(String) });
    expect(checks).not.toHaveBeenCalled();
  });

  it('checks at most one signature of the root for each certificate that names the root as issuer', () => {
    const impostor = { ...makeCa('ca'), subjectDer: ca.subjectDer };
    const chain = [
      makeClient(impostor, { cn: 'jane' }),
      ...Array.from({ length: 7 }, () => issue(impostor, { cn: 'ca', isCa: true })),
    ];
    expect(verify(chain)).toEqual({ ok: false, reason: expect.any(String) });
    expect(checks.mock.calls.length).toBeLessThanOrEqual(chain.length);
    const rootKey = ca.x509.publicKey.export({ type: 'spki', format: 'der' });
    for (const [key] of checks.mock.calls) expect(key.export({ type: 'spki', format: 'der' })).toEqual(rootKey);
  });

  it('bounds the signature checks of a connection over both bundles and all later verifications', () => {
    const authorities = Array.from({ length: 20 }, () => makeCa('ca').x509);
    const intermediate = makeIntermediate(makeCa('ca'), 'link');
    const chain = new ClientChain([makeClient(intermediate, { cn: 'jane' }).der, intermediate.der]);
    expect(chain.verify(authorities, now)).toEqual(refused(/too many possible paths/));
    expect(chain.verify(roots, now)).toMatchObject({ ok: false });
    expect(chain.verify(authorities, now + 1)).toMatchObject({ ok: false });
    expect(checks.mock.calls.length).toBe(SIGNATURE_CHECKS_MAX);
  });

  it('checks the leaf once against each authority of its issuer name, however often it is verified', () => {
    const authorities = Array.from({ length: 20 }, () => makeCa('ca').x509);
    const chain = new ClientChain([makeClient(makeCa('ca'), { cn: 'jane' }).der]);
    for (const nowMs of [now, now + 1]) expect(chain.verify(authorities, nowMs)).toMatchObject({ ok: false });
    expect(checks.mock.calls.length).toBe(authorities.length);
  });

  it.each([
    ['a modulus of 1,023 bits', () => rsaPublicKey({ modulusBits: 1_023, exponentBits: 17 }), /fewer than 1024 bits/],
    ['a modulus of 8,200 bits', () => rsaPublicKey({ modulusBits: 8_200, exponentBits: 17 }), /more than 8192 bits/],
    ['an exponent of 2^31', () => rsaPublicKey({ modulusBits: 2_048, exponentBits: 32 }), /public exponent/],
    ['a curve that Go does not know', () => publicKey('secp256k1'), /elliptic curve/],
    ['a curve with explicit parameters', () => publicKey('P-256', 'explicit'), /elliptic curve/],
  ])('checks no signature for a leaf whose key has %s', (_, publicKeyDer, reason) => {
    expect(verify([makeClient(ca, { cn: 'jane', publicKeyDer: publicKeyDer() })])).toEqual(refused(reason));
    expect(checks).not.toHaveBeenCalled();
  });

  it.each([
    ['RSA of 1,024 bits', () => rsaPublicKey({ modulusBits: 1_024, exponentBits: 17 })],
    ['RSA of 8,192 bits', () => rsaPublicKey({ modulusBits: 8_192, exponentBits: 17 })],
    ['RSA with the exponent 2^31 - 1', () => rsaPublicKey({ modulusBits: 2_048, exponentBits: 31 })],
    ['P-521', () => publicKey('P-521')],
    ['Ed25519', () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' })],
  ])('accepts a leaf with a key of %s', (_, publicKeyDer) => {
    expect(verify([makeClient(ca, { cn: 'jane', publicKeyDer: publicKeyDer() })])).toMatchObject({ ok: true });
  });
});

function publicKey(namedCurve: string, paramEncoding: 'named' | 'explicit' = 'named'): Buffer {
  const { publicKey: key } = generateKeyPairSync('ec', { namedCurve, paramEncoding });
  return key.export({ type: 'spki', format: 'der' });
}
