import { constants, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate, type TlsOptions } from 'node:tls';

/** How a client verifies a server, and the certificate that it presents. All contents are PEM. */
export interface ConnectionTls {
  /** CA bundle; undefined: the CAs that Node.js trusts. */
  readonly ca?: string | undefined;
  /** Name or IP address that the server's certificate must have; undefined: the dialled host. */
  readonly servername?: string | undefined;
  /** Names of which the certificate may have one instead. */
  readonly otherNames?: readonly string[];
  /** Client certificate. Without one, the front-proxy lane is the plain one. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The server's certificate is not verified: only where an operator or an APIService demands it. */
  readonly insecureSkipVerify?: boolean;
}

/** Certificate of the listener, and CAs for client certificates. All contents are PEM. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  /** CAs named in the request for a client certificate; each request decides what a certificate permits. */
  readonly clientCas: readonly string[];
}

/**
 * Returns the options of every TLS client in this program (node:tls, node:https) for a connection to
 * `host`, a name or an IP address without brackets. The caller adds the address and ALPN.
 */
export function clientTlsOptions(host: string, tls: ConnectionTls): ConnectionOptions {
  const { ca, servername = host, otherNames = [], cert, key, insecureSkipVerify } = tls;
  return {
    // Every certificate of the bundle is trusted, as in Go, also one that is not self-signed: the bundle of a webhook may be its certificate.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(cert === undefined ? {} : { cert, key }),
    // SNI cannot be an IP address (RFC 6066, 3). Empty: node:https would choose a name by itself.
    servername: isIP(servername) === 0 ? servername : '',
    checkServerIdentity: (_, certificate) => identityProblem([...otherNames, servername], certificate),
    ...(insecureSkipVerify ? { rejectUnauthorized: false } : {}),
  };
}

/** Returns the error for the first name unless the certificate has one of the names. */
function identityProblem(names: readonly string[], certificate: PeerCertificate): Error | undefined {
  const problems = names.map((name) =>
    hasIpv6(name, certificate) ? undefined : checkServerIdentity(name, certificate),
  );
  return problems.includes(undefined) ? undefined : problems[0];
}

/** Node.js 22.23 takes no IPv6 address for one that a certificate has. */
function hasIpv6(name: string, { raw }: PeerCertificate): boolean {
  return isIP(name) === 6 && new X509Certificate(raw).checkIP(name) !== undefined;
}

/** Returns the options of the listener, for its creation and for `setSecureContext`. */
export function serverTlsOptions({ cert, key, clientCas }: ServerTls): TlsOptions {
  return {
    cert,
    key,
    ca: [...clientCas],
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['h2', 'http/1.1'],
    requestCert: true,
    // A certificate that fails verification is refused per request, with the reason in a Status.
    rejectUnauthorized: false,
    // A resumed session has no intermediate certificates and would survive a change of the CA
    // files. Renegotiation (TLS 1.2) would repeat the expensive part of the handshake, and could
    // change the client certificate within a connection.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  };
}
