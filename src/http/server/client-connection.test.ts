import { expect, it } from 'vitest';
import { remoteAddressOf } from './client-connection.js';

it.each([
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['10.0.0.1', '10.0.0.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['::ffff:a00:1', '::ffff:a00:1'],
  [undefined, ''],
])('the address %s of a socket is that of client %s', (remoteAddress, address) => {
  expect(remoteAddressOf({ remoteAddress })).toBe(address);
});
