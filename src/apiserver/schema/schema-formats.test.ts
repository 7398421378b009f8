import { describe, expect, it } from 'vitest';
import { isKnownFormat, textFormat } from './schema-formats.js';

describe('textFormat', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['uuid', ['123E4567-e89b-12d3-a456-426614174000', '123e4567e89b12d3a456426614174000'], ['123e4567', '']],
    ['uuid4', ['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-12d3-a456-426614174000']],
    ['ipv4', ['10.0.0.1', '010.0.0.1'], ['10.0.0', '::1', '10.0.0.256']],
    ['ipv6', ['::1', 'fe80::1'], ['10.0.0.1', 'fe80::1%eth0']],
    ['cidr', ['10.0.0.0/8', 'fd00::/64'], ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/8/8']],
    [
      'mac',
      ['01:23:45:67:89:ab', '01-23-45-67-89-ab-cd-ef', '0123.4567.89ab'],
      ['01:23:45:67:89', '01:23:45-67-89-ab'],
    ],
    ['hostname', ['a', 'a.example.com', 'münchen.de'], ['-a', 'a b', 'a..b', `${'a'.repeat(64)}.de`]],
    ['email', ['a@b.test', 'A <a@b.test>'], ['a', '@b', 'a@b@c', 'a@b>']],
    ['uri', ['https://a.test/b?c', '/a', 'urn:a'], ['a b', 'a', 'https://a b/']],
    ['date', ['2024-02-29'], ['2023-02-29', '2023-1-1']],
    ['date-time', ['2024-02-29T00:00:00Z', '2024-02-29t23:59:59.5+01:00'], ['2024-02-29', '2024-02-29T24:00:00Z']],
    ['duration', ['1h30m', '-1.5s', '0', '3 days', '2 weeks'], ['soon', '5', '1x']],
    ['byte', ['AAAA', 'AA=='], ['', 'A', 'AA=A']],
    ['hexcolor', ['#fff', 'A0A0A0'], ['#ff']],
    ['rgbcolor', ['rgb(0, 128, 255)'], ['rgb(0,0,256)']],
    ['isbn', ['0321751043', '978-0321751041'], ['0321751044']],
    ['creditcard', ['4111 1111 1111 1111'], ['4111 1111 1111 1112']],
    ['ssn', ['123-45-6789'], ['123-45']],
    ['k8s-short-name', ['a-b'], ['a.b', 'A', '-a', 'a'.repeat(64)]],
    ['k8s-long-name', ['a.b-c'], ['a..b', 'A']],
  ])('accepts and refuses values of format %s', (format, good, bad) => {
    const matches = textFormat(format)!;
    expect(good.filter((text) => !matches(text))).toEqual([]);
    expect(bad.filter((text) => matches(text))).toEqual([]);
  });

  it('returns undefined for formats that are unknown to kube-apiserver', () => {
    expect(textFormat('odd')).toBeUndefined();
    expect(textFormat('constructor')).toBeUndefined();
    expect(isKnownFormat('integer', 'int8')).toBe(false);
    expect(isKnownFormat('integer', 'int32')).toBe(true);
  });
});
