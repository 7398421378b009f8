import { isIP } from 'node:net';
import { type HostPort, isSameAddress } from '../../base/address.js';
import { isLoopback } from '../../compose/config/addresses.js';

/** This machine, as clients of the cluster may find it. */
export interface Machine {
  readonly addresses: readonly string[];
  /** The addresses of a name; none for a name that cannot be resolved. Never rejects. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
}

/**
 * Returns an address behind a host that is one of this machine but not the node's: a virtual one, perhaps. Nobody listens there
 * when Straddle has the address of the node only. Undefined if there is none.
 */
export async function otherOwnAddress(host: string, node: HostPort, machine: Machine): Promise<string | undefined> {
  const found = isIP(host) === 0 ? await machine.resolve(host) : [host];
  return found.find(
    (address) => !isLoopback(address) && !isSameAddress(address, node.host) && isAmong(address, machine.addresses),
  );
}

export function isAmong(address: string, addresses: readonly string[]): boolean {
  return addresses.some((each) => isSameAddress(each, address));
}
