import { describe, expect, it } from 'vitest';
import { addressOfUrl, canonicalAddress, formatHostPort, hostPortOf, joinAddress, parseHostPort } from './address.js';

describe('hostPortOf', () => {
  it.each([
    ['https://10.0.0.1:6443', { host: '10.0.0.1', port: 6443 }],
    ['https://[fd00::1]:6443', { host: 'fd00::1', port: 6443 }],
    ['https://[fd00::1]', { host: 'fd00::1', port: 443 }],
    ['https://api.example', { host: 'api.example', port: 443 }],
    ['http://[::1]', { host: '::1', port: 80 }],
  ])('takes %s apart, IPv6 without brackets', (url, expected) => {
    expect(hostPortOf(new URL(url))).toEqual(expected);
  });
});

describe('formatHostPort', () => {
  it.each(['10.0.0.1:6443', '[fd00::1]:6443', '[::1]:80', 'api.example:6443'])(
    'makes %s of its parts again',
    (address) => {
      expect(formatHostPort(parseHostPort(address))).toBe(address);
    },
  );
});

describe('addresses of peers', () => {
  it('have one spelling for an IPv6 address', () => {
    expect(canonicalAddress('[FD00:0:0::1]:6443')).toBe('[fd00::1]:6443');
    expect(joinAddress('fd00:0:0:0:0:0:0:1', 6443)).toBe('[fd00::1]:6443');
    expect(addressOfUrl('https://[FD00::0:1]')).toBe('[fd00::1]:443');
  });

  it('exclude unspecified addresses, zones and ports out of range', () => {
    const texts = [
      '[::]:6443',
      '0.0.0.0:6443',
      '[fe80::1%eth0]:6443',
      '[fd00::1]:0',
      '[fd00::1]:65536',
      'fd00::1:6443',
    ];
    expect(texts.map(canonicalAddress)).toEqual(texts.map(() => undefined));
  });
});
