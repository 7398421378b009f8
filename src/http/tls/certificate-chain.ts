import type { X509Certificate } from 'node:crypto';
import { type Certificate, decodeCertificate, readCertificate, sameBytes } from './certificate.js';

export type ChainVerdict =
  | { readonly ok: true /** When the first certificate of the path expires. */; readonly notAfterMs: number }
  | { readonly ok: false; readonly reason: string };

/** Bound on the certificates of a client that are read; the rest is ignored. */
export const CHAIN_CERTIFICATES_MAX = 10;
/** Leaf, intermediates and root in one path. */
export const PATH_CERTIFICATES_MAX = 8;
/**
 * Bound on signature checks for one client chain, over all bundles and verifications. Checks of the
 * leaf with keys of a bundle do not count: the operator chose those authorities.
 */
export const SIGNATURE_CHECKS_MAX = 16;
/** Bound on links tried in one search: certificates that all name each other have n! paths. */
export const PATH_STEPS_MAX = 256;

/** Extended key usages to verify a path for. Straddle verifies clients; test vectors are for servers. */
export const PURPOSE = { client: '1.3.6.1.5.5.7.3.2', server: '1.3.6.1.5.5.7.3.1' } as const;
export type Purpose = keyof typeof PURPOSE;
const ANY_USAGE = '2.5.29.37.0';

/** Verifies a chain once, against one bundle. */
export function verifyChain(
  chainDer: readonly Uint8Array[],
  roots: readonly X509Certificate[],
  nowMs: number,
  purpose: Purpose = 'client',
): ChainVerdict {
  return new ClientChain(chainDer).verify(roots, nowMs, purpose);
}

/**
 * The certificates that a client sent, leaf first, with the results of all signature checks: no
 * signature is checked twice, also against several bundles or at a later time.
 */
export class ClientChain {
  readonly #leaf: Certificate | undefined;
  readonly #intermediates: readonly Certificate[] = [];
  readonly #signatures = new SignatureChecks();
  readonly #refusal: string = 'no certificate';

  constructor(chainDer: readonly Uint8Array[]) {
    if (chainDer.length === 0) return;
    try {
      this.#leaf = readCertificate(chainDer[0]!);
    } catch (error) {
      this.#refusal = `malformed certificate: ${(error as Error).message}`;
      return;
    }
    this.#intermediates = chainDer.slice(1, CHAIN_CERTIFICATES_MAX).flatMap(readable);
  }

  /**
   * Path validation from the leaf through the other certificates to a certificate of exactly this
   * bundle, by the rules of Go's verifier, which kube-apiserver uses. Certificates with features
   * that are not implemented (name constraints) are refused.
   */
  verify(roots: readonly X509Certificate[], nowMs: number, purpose: Purpose = 'client'): ChainVerdict {
    if (!this.#leaf) return { ok: false, reason: this.#refusal };
    if (roots.length === 0) return { ok: false, reason: 'no certificate authority to verify against' };
    return new PathSearch({
      roots: roots.flatMap(anchor),
      intermediates: this.#intermediates,
      signatures: this.#signatures,
      nowMs,
      purpose,
    }).verify(this.#leaf);
  }
}

/** Returns no certificate for one that cannot be read: it may not be part of the path. */
function readable(der: Uint8Array): Certificate[] {
  try {
    return [decodeCertificate(der)];
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

/** Checks each signature once; those that count, up to the bound. */
class SignatureChecks {
  readonly #results = new WeakMap<Certificate, Map<Certificate, boolean>>();
  #left = SIGNATURE_CHECKS_MAX;

  /** Undefined if the bound is reached. */
  isSignedBy(child: Certificate, parent: Certificate, isCounted: boolean): boolean | undefined {
    const byChild = this.#results.get(parent) ?? new Map<Certificate, boolean>();
    const known = byChild.get(child);
    if (known !== undefined) return known;
    if (isCounted && this.#left === 0) return undefined;
    if (isCounted) this.#left--;
    const signed = signedBy(child, parent);
    this.#results.set(parent, byChild.set(child, signed));
    return signed;
  }
}

interface PathSearchParts {
  readonly roots: readonly Certificate[];
  readonly intermediates: readonly Certificate[];
  readonly signatures: SignatureChecks;
  readonly nowMs: number;
  readonly purpose: Purpose;
}

/**
 * Finds a path by names and constraints, from the leaf up, then checks its signatures from the root
 * down: a key that the client chose is not used before a trusted key has signed its certificate.
 */
class PathSearch {
  readonly #parts: PathSearchParts;
  #stepsLeft = PATH_STEPS_MAX;
  /** Why the first path failed that came nearest to an issuer; else "unknown authority". */
  #reason: string | undefined;

  constructor(parts: PathSearchParts) {
    this.#parts = parts;
  }

  verify(leaf: Certificate): ChainVerdict {
    const unfit = leaf.clientKeyRefusal ?? this.#unfit(leaf, []);
    if (unfit) return { ok: false, reason: unfit };
    const pinned = this.#parts.roots.some((root) => sameBytes(root.der, leaf.der));
    const path = pinned ? this.#accept([leaf]) : this.#extend([leaf]);
    if (!path) return { ok: false, reason: this.#reason ?? 'signed by an unknown authority' };
    return { ok: true, notAfterMs: Math.min(...path.map((certificate) => certificate.notAfterMs)) };
  }

  #extend(path: readonly Certificate[]): readonly Certificate[] | undefined {
    const child = path[path.length - 1]!;
    const roots = issuersOf(child, this.#parts.roots);
    const intermediates = issuersOf(child, this.#parts.intermediates);
    if (path.length >= PATH_CERTIFICATES_MAX) {
      if (roots.length + intermediates.length > 0) {
        this.#reason ??= `more than ${PATH_CERTIFICATES_MAX} certificates in a path`;
      }
      return undefined;
    }
    for (const root of roots) {
      if (!this.#mayIssue(root, child, path, true)) continue;
      const accepted = this.#isSigned([...path, root]) && this.#accept([...path, root]);
      if (accepted) return accepted;
    }
    for (const intermediate of intermediates) {
      if (path.some((link) => sameBytes(link.der, intermediate.der))) continue;
      if (!this.#mayIssue(intermediate, child, path, false)) continue;
      const found = this.#extend([...path, intermediate]);
      if (found) return found;
    }
    return undefined;
  }

  #mayIssue(parent: Certificate, child: Certificate, path: readonly Certificate[], isRoot: boolean): boolean {
    if (this.#stepsLeft-- <= 0) {
      this.#reason ??= 'too many possible paths';
      return false;
    }
    const unfit = notAnIssuer(parent, isRoot) ?? this.#unfit(parent, path);
    if (unfit) {
      this.#reason ??= `its issuer can't be used: ${unfit}`;
      return false;
    }
    if (!child.signatureIsStrong) {
      this.#reason ??= 'signed with an insecure or unsupported algorithm';
      return false;
    }
    return true;
  }

  /** Checks the signatures of a path that ends with a root, beginning with those of the root. */
  #isSigned(path: readonly Certificate[]): boolean {
    const isCounted = path.length > 2;
    for (let i = path.length - 2; i >= 0; i--) {
      const signed = this.#parts.signatures.isSignedBy(path[i]!, path[i + 1]!, isCounted);
      if (signed === undefined) this.#reason ??= 'too many possible paths';
      if (!signed) return false;
    }
    return true;
  }

  /** Returns the fault of a certificate above the path `below`, in any role. */
  #unfit(certificate: Certificate, below: readonly Certificate[]): string | undefined {
    if (certificate.unknownCritical) return `critical extension ${certificate.unknownCritical} is not understood`;
    if (this.#parts.nowMs < certificate.notBeforeMs) return `not valid before ${iso(certificate.notBeforeMs)}`;
    if (this.#parts.nowMs > certificate.notAfterMs) return `expired at ${iso(certificate.notAfterMs)}`;
    if (certificate.hasNameConstraints && below.some((link) => link.hasAlternativeNames)) {
      return 'its name constraints are not supported';
    }
    if (certificate.constrainsOtherNames) return 'it has name constraints of a kind that is not supported';
    const intermediateCount = below.length - 1;
    if (certificate.pathLengthMax !== undefined && intermediateCount > certificate.pathLengthMax) {
      return 'more intermediates than its path length allows';
    }
    return undefined;
  }

  /** Usages nest: an authority without a purpose cannot issue certificates for it. */
  #accept(path: readonly Certificate[]): readonly Certificate[] | undefined {
    const wanted = PURPOSE[this.#parts.purpose];
    const fits = path.every(
      ({ extendedKeyUsages: usages }) => usages.length === 0 || usages.includes(wanted) || usages.includes(ANY_USAGE),
    );
    if (fits) return path;
    this.#reason = `not usable for ${this.#parts.purpose} authentication (extended key usage)`;
    return undefined;
  }
}

/** Returns candidates by name, octet by octet. Key identifiers only order them, as in Go. */
function issuersOf(child: Certificate, candidates: readonly Certificate[]): Certificate[] {
  const named = candidates.filter((candidate) => sameBytes(candidate.subjectDer, child.issuerDer));
  const differs = ({ subjectKeyId }: Certificate): boolean =>
    subjectKeyId !== undefined && child.authorityKeyId !== undefined && !sameBytes(subjectKeyId, child.authorityKeyId);
  return [...named.filter((candidate) => !differs(candidate)), ...named.filter(differs)];
}

function notAnIssuer(parent: Certificate, isRoot: boolean): string | undefined {
  // Version 1 has no extensions: such a certificate may only be a root, which the operator named.
  const oldRoot = isRoot && parent.version < 3 && parent.isCa === undefined;
  if (parent.isCa !== true && !oldRoot) return 'not a certificate authority';
  if (parent.maySignCertificates === false) return 'its key usage does not include signing certificates';
  return isRoot ? parent.keyRefusal : parent.clientKeyRefusal;
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
