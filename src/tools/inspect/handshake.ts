import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { parseHostPort } from '../../base/address.js';
import { clientTlsOptions } from '../../http/tls/connection-tls.js';
import { NoAnswer, noAnswer, PEER_SERVER_NAME } from './ask.js';

/** The serving certificate of a TLS handshake, and the result of its path validation. */
export interface ServingCertificate {
  readonly issuer: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Undefined if a certification path leads to a given authority. Dates are not validated. */
  readonly chainProblem: string | undefined;
  /** An authority was given, by which the path could be judged. */
  readonly isChainJudged: boolean;
}

export interface HandshakeOptions {
  /** `10.0.0.1:6443` or `[fd00::1]:6443`. */
  readonly address: string;
  readonly ca: string | undefined;
  readonly timeoutMs: number;
}

/**
 * Does the TLS handshake of a peer, without credentials and without a request, so that servers need
 * not be trusted. Rejects with NoAnswer.
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
      const { raw } = socket.getPeerCertificate();
      const why = socket.authorizationError as unknown;
      socket.destroy();
      if (raw) resolve({ ...describe(new X509Certificate(raw), chainProblem(why)), isChainJudged: ca !== undefined });
      else reject(new NoAnswer('it shows no certificate', 'NO_CERTIFICATE'));
    });
  });
}

function describe(leaf: X509Certificate, problem: string | undefined): Omit<ServingCertificate, 'isChainJudged'> {
  const names = (leaf.subjectAltName ?? '').split(/,\s*/);
  const after = (prefix: string) => names.flatMap((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : []));
  return {
    issuer: leaf.issuer.replaceAll('\n', ', '),
    dnsNames: after('DNS:'),
    ipAddresses: after('IP Address:'),
    notBeforeMs: Date.parse(leaf.validFrom),
    notAfterMs: Date.parse(leaf.validTo),
    chainProblem: problem,
  };
}

/** Omits problems of names and dates, which have checks of their own. */
function chainProblem(error: unknown): string | undefined {
  const code = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : error;
  if (code === undefined || code === null || code === '') return undefined;
  const text = String(code);
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ALTNAME/.test(text)) return undefined;
  return noAnswer(Object.assign(new Error(text), { code: text }), 0).message;
}
