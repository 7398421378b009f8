import { describe, expect, it } from 'vitest';
import { DerError, DerReader, oidText, timeMs } from './der.js';
import { issue, makeCa, makeClient, OID, sequence, tlv } from './pki.fixture.js';
import { x509Subject } from './x509-subject.js';

const ca = makeCa('ca');

describe('x509Subject', () => {
  it('returns the common name and every organization in order', () => {
    const { der } = makeClient(ca, { cn: 'jane', organizations: ['dev', 'ops', 'dev'] });
    expect(x509Subject(der)).toEqual({ commonName: 'jane', organizations: ['dev', 'ops', 'dev'], uids: [] });
  });

  it('returns the last of several common names, as Go does', () => {
    const { der } = makeClient(ca, { subject: [[[OID.cn, 'first']], [[OID.cn, 'last']]] });
    expect(x509Subject(der).commonName).toBe('last');
  });

  it('reads multi-valued names and the Kubernetes uid', () => {
    const { der } = makeClient(ca, {
      subject: [
        [
          [OID.o, 'a'],
          [OID.cn, 'jane'],
          [OID.o, 'b'],
        ],
        [[OID.uid, 'abc-1']],
      ],
    });
    expect(x509Subject(der)).toEqual({ commonName: 'jane', organizations: ['a', 'b'], uids: ['abc-1'] });
  });

  it('does not read text inside a common name as other attributes', () => {
    const cn = 'jane\nO=system:masters, O=system:masters+O=system:masters/O=system:masters';
    const { der } = makeClient(ca, { cn });
    expect(x509Subject(der)).toEqual({ commonName: cn, organizations: [], uids: [] });
  });

  it.each([
    ['PrintableString', 0x13, Buffer.from('jane:doe*'), 'jane:doe*'],
    ['UTF8String', 0x0c, Buffer.from('żółw'), 'żółw'],
    ['T61String as Latin-1', 0x14, Buffer.from([0x6a, 0xfc]), 'jü'],
    ['IA5String', 0x16, Buffer.from('a@b'), 'a@b'],
    ['NumericString', 0x12, Buffer.from('12 3'), '12 3'],
    ['BMPString', 0x1e, Buffer.from('006a00fc20ac', 'hex'), 'jü€'],
    ['BMPString with a terminating zero', 0x1e, Buffer.from('006a0000', 'hex'), 'j'],
  ])('reads a common name in %s', (_, tag, bytes, text) => {
    const { der } = makeClient(ca, { subject: [[[OID.cn, { tag, bytes }]]] });
    expect(x509Subject(der).commonName).toBe(text);
  });

  it.each([
    ['PrintableString with @', 0x13, Buffer.from('a@b')],
    ['UTF8String that is not UTF-8', 0x0c, Buffer.from([0x61, 0xff])],
    ['overlong UTF-8', 0x0c, Buffer.from([0xc0, 0xaf])],
    ['BMPString of odd length', 0x1e, Buffer.from([0, 0x61, 0])],
    ['BMPString with surrogates', 0x1e, Buffer.from('d83dde00', 'hex')],
    ['UniversalString', 0x1c, Buffer.from([0, 0, 0, 0x61])],
  ])('refuses a common name in %s, as Go does', (_, tag, bytes) => {
    const { der } = makeClient(ca, { subject: [[[OID.cn, { tag, bytes }]]] });
    expect(() => x509Subject(der)).toThrow(DerError);
  });

  it('refuses bytes after the certificate and every truncation of it', () => {
    const { der } = issue(ca, { cn: 'jane' });
    expect(() => x509Subject(Buffer.concat([der, Buffer.from([0])]))).toThrow(DerError);
    for (let length = 0; length < der.length; length++) {
      expect(() => x509Subject(der.subarray(0, length))).toThrow(DerError);
    }
  });

  it('throws nothing but DerError when single octets are changed', () => {
    const { der } = makeClient(ca, { cn: 'jane', organizations: ['dev'] });
    for (let at = 0; at < der.length; at++) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const changed = Buffer.from(der);
        changed[at]! ^= mask;
        try {
          x509Subject(changed);
        } catch (error) {
          expect(error).toBeInstanceOf(DerError);
        }
      }
    }
  });
});

describe('DerReader', () => {
  it.each([
    ['an indefinite length', '3080020101'],
    ['a length in long form that fits the short one', '30810302010100'],
    ['a length with a leading zero', '3082000302010100'],
    ['a length of four octets', '308400000003020101'],
    ['a length past the end', '3005020101'],
    ['a high tag number', '1f810100'],
  ])('refuses %s', (_, hex) => {
    expect(() => new DerReader(Buffer.from(hex, 'hex')).any()).toThrow(DerError);
  });

  it('reads nested values within their bounds', () => {
    const reader = new DerReader(sequence(tlv(0x02, Buffer.from([5])), tlv(0x05)));
    const inner = reader.open(0x30);
    expect(inner.read(0x02).content[0]).toBe(5);
    expect(inner.optional(0x02)).toBeUndefined();
    expect(inner.any().tag).toBe(0x05);
    inner.end();
    reader.end();
  });

  it('refuses object identifiers that are padded or cut off', () => {
    expect(oidText(Buffer.from('2b0601040183c25302', 'hex'))).toBe('1.3.6.1.4.1.57683.2');
    expect(() => oidText(Buffer.from('2b8006', 'hex'))).toThrow(DerError);
    expect(() => oidText(Buffer.from('2b86', 'hex'))).toThrow(DerError);
    expect(() => oidText(Buffer.from('2bffffffffff7f', 'hex'))).toThrow(DerError);
  });

  it('reads both kinds of time and refuses impossible ones', () => {
    const at = (tag: number, text: string) => timeMs(new DerReader(tlv(tag, Buffer.from(text))).any());
    expect(at(0x17, '491231235959Z')).toBe(Date.UTC(2049, 11, 31, 23, 59, 59));
    expect(at(0x17, '500101000000Z')).toBe(Date.UTC(1950, 0, 1));
    expect(at(0x18, '20500101000000Z')).toBe(Date.UTC(2050, 0, 1));
    for (const wrong of [
      '250230000000Z',
      '251301000000Z',
      '250101240000Z',
      '250101006000Z',
      '2501010000Z',
      '250101000000+0100',
    ]) {
      expect(() => at(0x17, wrong)).toThrow(DerError);
    }
  });
});
