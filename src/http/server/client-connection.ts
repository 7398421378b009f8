import type { Socket } from 'node:net';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { ClientConnection } from '../exchange.js';

/** Bound on the chain length; a longer chain is truncated and fails path validation. */
const CHAIN_LENGTH_MAX = 8;

const known = new WeakMap<object, ClientConnection>();

/**
 * Returns the ClientConnection of a connection, created once. `owner` is the cache key and lives as
 * long as the connection: Node's HTTP/2 session (whose socket is a proxy object) or the socket.
 */
export function clientConnection(owner: object, socket: TLSSocket): ClientConnection {
  const seen = known.get(owner);
  if (seen) return seen;
  const connection: ClientConnection = {
    remoteAddress: remoteAddressOf(socket),
    certificateChain: certificateChain(socket),
  };
  known.set(owner, connection);
  return connection;
}

/** The address of a client. An IPv4 client of a socket for both families, `::ffff:10.0.0.1`, is `10.0.0.1`. */
export function remoteAddressOf({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string {
  return /^::ffff:[\d.]+$/.test(remoteAddress) ? remoteAddress.slice(7) : remoteAddress;
}

function certificateChain(socket: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = [];
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (certificate?.raw && chain.length < CHAIN_LENGTH_MAX) {
    chain.push(certificate.raw);
    // A self-signed root is its own issuer.
    if (certificate.issuerCertificate === certificate) break;
    certificate = certificate.issuerCertificate;
  }
  return chain;
}
