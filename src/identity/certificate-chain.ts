import type { X509Certificate } from 'node:crypto';
import { type Certificate, readCertificate, sameBytes } from './certificate.js';

export type ChainVerdict =
  | { readonly ok: true /** When the first certificate of the path expires. */; readonly notAfterMs: number }
  | { readonly ok: false; readonly reason: string };

/** Certificates looked at of what a client sent; the rest is ignored. */
export const CHAIN_CERTIFICATES_MAX = 10;
/** Leaf, intermediates and root in one path. */
export const PATH_CERTIFICATES_MAX = 8;
/** Signatures checked for one chain: certificates that all name each other as issuer must not cost more. */
export const SIGNATURE_CHECKS_MAX = 32;

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';

/**
 * Whether a path leads from the client's certificate (first in `chainDer`), through what else the client sent, to a
 * certificate of exactly this bundle, for the purpose of client authentication. The rules are those of Go's verifier,
 * which kube-apiserver uses; where they need what is not implemented (name constraints), the answer is no.
 */
export function verifyChain(
  chainDer: readonly Uint8Array[],
  roots: readonly X509Certificate[],
  nowMs: number,
): ChainVerdict {
  if (chainDer.length === 0) return { ok: false, reason: 'no certificate' };
  if (roots.length === 0) return { ok: false, reason: 'no certificate authority to verify against' };
  let leaf: Certificate;
  try {
    leaf = readCertificate(chainDer[0]!);
  } catch (error) {
    return { ok: false, reason: `malformed certificate: ${(error as Error).message}` };
  }
  const intermediates = chainDer.slice(1, CHAIN_CERTIFICATES_MAX).flatMap(readable);
  const search = new PathSearch(roots.flatMap(anchor), intermediates, nowMs);
  return search.verify(leaf);
}

/** A certificate beside the path does no harm, so one that can't be read is only left out. */
function readable(der: Uint8Array): Certificate[] {
  try {
    return [readCertificate(der)];
  } catch {
    return [];
  }
}

const anchors = new WeakMap<X509Certificate, Certificate | null>();

function anchor(x509: X509Certificate): Certificate[] {
  let read = anchors.get(x509);
  if (read === undefined) {
    read = readable(x509.raw)[0] ?? null;
    anchors.set(x509, read);
  }
  return read ? [read] : [];
}

class PathSearch {
  readonly #roots: readonly Certificate[];
  readonly #intermediates: readonly Certificate[];
  readonly #nowMs: number;
  #checksLeft = SIGNATURE_CHECKS_MAX;
  /** Why the most promising path failed: what was found nearest to an issuer beats "unknown authority". */
  #reason: string | undefined;

  constructor(roots: readonly Certificate[], intermediates: readonly Certificate[], nowMs: number) {
    this.#roots = roots;
    this.#intermediates = intermediates;
    this.#nowMs = nowMs;
  }

  verify(leaf: Certificate): ChainVerdict {
    const unfit = this.#unfit(leaf, []);
    if (unfit) return { ok: false, reason: unfit };
    const pinned = this.#roots.some((root) => sameBytes(root.der, leaf.der));
    const path = pinned ? this.#accept([leaf]) : this.#extend([leaf]);
    if (!path) return { ok: false, reason: this.#reason ?? 'signed by an unknown authority' };
    return { ok: true, notAfterMs: Math.min(...path.map((certificate) => certificate.notAfterMs)) };
  }

  #extend(path: readonly Certificate[]): readonly Certificate[] | undefined {
    if (path.length >= PATH_CERTIFICATES_MAX) {
      this.#reason ??= `more than ${PATH_CERTIFICATES_MAX} certificates in a path`;
      return undefined;
    }
    const child = path[path.length - 1]!;
    for (const root of this.#roots) {
      if (!this.#issued(root, child, path, true)) continue;
      const accepted = this.#accept([...path, root]);
      if (accepted) return accepted;
    }
    for (const intermediate of this.#intermediates) {
      if (path.some((link) => sameBytes(link.der, intermediate.der))) continue;
      if (!this.#issued(intermediate, child, path, false)) continue;
      const found = this.#extend([...path, intermediate]);
      if (found) return found;
    }
    return undefined;
  }

  #issued(parent: Certificate, child: Certificate, path: readonly Certificate[], isRoot: boolean): boolean {
    if (!sameBytes(parent.subjectDer, child.issuerDer)) return false;
    const unfit = notAnIssuer(parent, isRoot) ?? this.#unfit(parent, path);
    if (unfit) {
      this.#reason ??= `its issuer can't be used: ${unfit}`;
      return false;
    }
    if (this.#checksLeft-- <= 0) {
      this.#reason ??= 'too many possible paths';
      return false;
    }
    if (!child.signatureIsStrong) {
      this.#reason ??= 'signed with an insecure or unsupported algorithm';
      return false;
    }
    return signedBy(child, parent);
  }

  /** What is wrong with a certificate on top of the path below it, whatever its role. */
  #unfit(certificate: Certificate, below: readonly Certificate[]): string | undefined {
    if (certificate.unknownCritical) return `critical extension ${certificate.unknownCritical} is not understood`;
    if (this.#nowMs < certificate.notBeforeMs) return `not valid before ${iso(certificate.notBeforeMs)}`;
    if (this.#nowMs > certificate.notAfterMs) return `expired at ${iso(certificate.notAfterMs)}`;
    if (certificate.hasNameConstraints && below.some((link) => link.hasAlternativeNames)) {
      return 'its name constraints are not supported';
    }
    const intermediateCount = below.length - 1;
    if (certificate.pathLengthMax !== undefined && intermediateCount > certificate.pathLengthMax) {
      return 'more intermediates than its path length allows';
    }
    return undefined;
  }

  /** Usages nest: an authority that is not for clients can't make certificates that are. */
  #accept(path: readonly Certificate[]): readonly Certificate[] | undefined {
    const fits = path.every(
      ({ extendedKeyUsages: usages }) =>
        usages.length === 0 || usages.includes(CLIENT_AUTH) || usages.includes(ANY_USAGE),
    );
    if (fits) return path;
    this.#reason = 'not usable for client authentication (extended key usage)';
    return undefined;
  }
}

function notAnIssuer(parent: Certificate, isRoot: boolean): string | undefined {
  // Version 1 knows no extensions: such a certificate may be a root, since the operator named it, but nothing else.
  const oldRoot = isRoot && parent.version < 3 && parent.isCa === undefined;
  if (parent.isCa !== true && !oldRoot) return 'not a certificate authority';
  if (parent.maySignCertificates === false) return 'its key usage does not include signing certificates';
  return undefined;
}

function signedBy(child: Certificate, parent: Certificate): boolean {
  try {
    return child.x509.verify(parent.x509.publicKey);
  } catch {
    return false;
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}
