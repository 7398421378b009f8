import { X509Certificate } from 'node:crypto';
import { connect, type DetailedPeerCertificate } from 'node:tls';
import { parseHostPort } from '../../base/address.js';
import { clientTlsOptions } from '../../http/tls/connection-tls.js';
import { NoAnswer, noAnswer, PEER_SERVER_NAME } from './ask.js';

/** What a server shows in a TLS handshake, and what the given authorities think of it. */
export interface ServingCertificate {
  readonly subject: string;
  readonly issuer: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Undefined if a path leads to one of the given authorities. Expiry is not its business. */
  readonly chainProblem: string | undefined;
}

export interface HandshakeOptions {
  /** `10.0.0.1:6443` or `[fd00::1]:6443`. */
  readonly address: string;
  readonly ca: string | undefined;
  readonly timeoutMs: number;
}

const CHAIN_MAX = 10;

/**
 * Shakes hands as a peer would, with no credentials, and says nothing: so it may also look at a server that should not be
 * trusted. Rejects with NoAnswer.
 */
export function readServingCertificate({ address, ca, timeoutMs }: HandshakeOptions): Promise<ServingCertificate> {
  return new Promise((resolve, reject) => {
    const target = parseHostPort(address);
    const tls = clientTlsOptions(target.host, { servername: PEER_SERVER_NAME, ca, insecureSkipVerify: true });
    const socket = connect({ ...tls, ...target, ALPNProtocols: ['http/1.1'] });
    socket.setTimeout(timeoutMs, () => socket.destroy(Object.assign(new Error('timeout'), { name: 'TimeoutError' })));
    socket.on('error', (error: NodeJS.ErrnoException) => reject(noAnswer(error, timeoutMs)));
    socket.on('close', () => reject(new NoAnswer('connection reset by peer', 'ECONNRESET')));
    socket.on('secureConnect', () => {
      const shown = socket.getPeerCertificate(true);
      const why = socket.authorizationError as unknown;
      socket.destroy();
      const chain = chainOf(shown);
      if (chain.length === 0) reject(new NoAnswer('it shows no certificate', 'NO_CERTIFICATE'));
      else resolve(describe(chain[0]!, chainProblem(why)));
    });
  });
}

function chainOf(shown: DetailedPeerCertificate | undefined): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let at = shown; at?.raw && chain.length < CHAIN_MAX; at = at.issuerCertificate) {
    chain.push(new X509Certificate(at.raw));
    if (at.issuerCertificate === at) break;
  }
  return chain;
}

function describe(leaf: X509Certificate, problem: string | undefined): ServingCertificate {
  const names = (leaf.subjectAltName ?? '').split(/,\s*/);
  const after = (prefix: string) => names.flatMap((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : []));
  return {
    subject: leaf.subject.replaceAll('\n', ', '),
    issuer: leaf.issuer.replaceAll('\n', ', '),
    dnsNames: after('DNS:'),
    ipAddresses: after('IP Address:'),
    notBeforeMs: Date.parse(leaf.validFrom),
    notAfterMs: Date.parse(leaf.validTo),
    chainProblem: problem,
  };
}

/** Names and dates are judged apart, each with its own way of mending. */
function chainProblem(error: unknown): string | undefined {
  const code = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : error;
  if (code === undefined || code === null || code === '') return undefined;
  const text = String(code);
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ALTNAME/.test(text)) return undefined;
  return noAnswer(Object.assign(new Error(text), { code: text }), 0).message;
}
