import { expect, it } from 'vitest';
import { remoteAddressOf } from './client-connection.js';

it.each([
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['10.0.0.1', '10.0.0.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['::ffff:a00:1', '::ffff:a00:1'],
  [undefined, ''],
])('remoteAddressOf a socket with remoteAddress %s is "%s"', (remoteAddress, address) => {
  expect(remoteAddressOf({ remoteAddress })).toBe(address);
});
