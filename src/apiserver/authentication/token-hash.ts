import { hash } from 'node:crypto';

/** Returns the key under which a token is cached. `hash()` costs a third of `createHash()`. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}
