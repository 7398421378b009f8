import { describe, expect, it } from 'vitest';
import {
  addressBytes,
  addressOfUrl,
  canonicalAddress,
  formatHostPort,
  hostPortOf,
  isSameAddress,
  joinAddress,
  parseHostPort,
} from './address.js';

describe('hostPortOf', () => {
  it.each([
    ['https://10.0.0.1:6443', { host: '10.0.0.1', port: 6443 }],
    ['https://[fd00::1]:6443', { host: 'fd00::1', port: 6443 }],
    ['https://[fd00::1]', { host: 'fd00::1', port: 443 }],
    ['https://api.example', { host: 'api.example', port: 443 }],
    ['http://[::1]', { host: '::1', port: 80 }],
  ])('returns host and port of %s, an IPv6 host without brackets', (url, expected) => {
    expect(hostPortOf(new URL(url))).toEqual(expected);
  });
});

describe('formatHostPort', () => {
  it.each(['10.0.0.1:6443', '[fd00::1]:6443', '[::1]:80', 'api.example:6443'])(
    'writes %s as it was before parseHostPort',
    (address) => {
      expect(formatHostPort(parseHostPort(address))).toBe(address);
    },
  );
});

describe('canonical addresses of peers', () => {
  it('are the same for every spelling of an IPv6 address', () => {
    expect(canonicalAddress('[FD00:0:0::1]:6443')).toBe('[fd00::1]:6443');
    expect(joinAddress('fd00:0:0:0:0:0:0:1', 6443)).toBe('[fd00::1]:6443');
    expect(addressOfUrl('https://[FD00::0:1]')).toBe('[fd00::1]:443');
  });

  it('do not exist for unspecified addresses, zones and ports out of range', () => {
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

describe('isSameAddress', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['fd00::1', 'FD00:0:0:0::0001', true],
    ['::', '0.0.0.0', false],
    ['6443', '6443', true],
    ['lb.example', '10.0.0.1', false],
  ])('compares %s and %s', (a, b, same) => {
    expect(isSameAddress(a, b)).toBe(same);
  });
});

describe('addressBytes', () => {
  it.each([
    ['10.0.0.255', [10, 0, 0, 255]],
    ['::', Array(16).fill(0)],
    ['::1', [...Array(15).fill(0), 1]],
    ['fd00:1::', [0xfd, 0, 0, 1, ...Array(12).fill(0)]],
    ['1:2:3:4:5:6:7:8', [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
    ['::ffff:10.0.0.1', [...Array(10).fill(0), 255, 255, 10, 0, 0, 1]],
    ['fe80::1%eth0', [0xfe, 0x80, ...Array(13).fill(0), 1]],
  ])('returns the bytes of %s', (text, bytes) => {
    expect([...addressBytes(text)!]).toEqual(bytes);
  });

  it('returns undefined for text that is no IP address', () => {
    expect(['', 'a', '10.0.0', '1::2::3', '[::1]'].map(addressBytes)).toEqual(Array(5).fill(undefined));
  });
});
