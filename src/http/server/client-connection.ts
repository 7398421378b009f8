import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { ClientConnection } from '../exchange.js';

/** More certificates than any real chain has; a longer one is cut and will not verify. */
const CHAIN_LENGTH_MAX = 8;

const known = new WeakMap<object, ClientConnection>();

/**
 * What is known of a connection, made once for its life. `owner` is what lives as long as the connection does: the
 * HTTP/2 session (whose socket is a proxy object) or the socket itself.
 */
export function clientConnection(owner: object, socket: TLSSocket): ClientConnection {
  const seen = known.get(owner);
  if (seen) return seen;
  const connection: ClientConnection = {
    remoteAddress: (socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
    certificateChain: certificateChain(socket),
  };
  known.set(owner, connection);
  return connection;
}

function certificateChain(socket: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = [];
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (certificate?.raw && chain.length < CHAIN_LENGTH_MAX) {
    chain.push(certificate.raw);
    // A root names itself as its issuer.
    if (certificate.issuerCertificate === certificate) break;
    certificate = certificate.issuerCertificate;
  }
  return chain;
}
