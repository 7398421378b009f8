import type { User } from '../contracts/user.js';
import { type Authorizer, resourceRight } from './authorizer.js';

/**
 * Returns whether a user may `approve`, `sign` or `attest` for a signer: by the right on that
 * signer, or on all signers of its domain (`example.com/*`). Signers exist as names in rules only.
 */
export function hasSignerRight(authorizer: Authorizer, user: User, verb: string, signerName: string): boolean {
  const [domain] = signerName.split('/', 1);
  const signers = { group: 'certificates.k8s.io', resource: 'signers' };
  return [signerName, `${domain}/*`].some(
    (name) => authorizer.authorize(resourceRight(user, verb, { ...signers, name })).allowed,
  );
}
