import type { X509Certificate } from 'node:crypto';
import { type Certificate, decodeCertificate, readCertificate, sameBytes } from './certificate.js';

export type ChainVerdict =
  | { readonly ok: true /** When the first certificate of the path expires. */; readonly notAfterMs: number }
  | { readonly ok: false; readonly reason: string };

/** Certificates looked at of what a client sent; the rest is ignored. */
export const CHAIN_CERTIFICATES_MAX = 10;
/** Leaf, intermediates and root in one path. */
export const PATH_CERTIFICATES_MAX = 8;
/**
 * Signatures checked for one client chain, whatever the number of bundles and however often it is verified. Checks of the
 * leaf with keys of the bundles do not count: there is one for each authority of its issuer's name, which the operator chose.
 */
export const SIGNATURE_CHECKS_MAX = 16;
/** Certificates tried as the next link in one search: chains in which all name each other have factorially many paths. */
export const PATH_STEPS_MAX = 256;

/** Extended key usages that a path is verified for. Clients are all that Straddle verifies; published cases are for servers. */
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
 * The certificates that a client sent, its own first, with every signature checked among them so far: they may be
 * verified against several bundles, and again as time passes, and no signature is checked twice.
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
   * Verifies that a path leads from the client's certificate, through the others, to a certificate of exactly this
   * bundle, for the authentication of clients unless told otherwise. The rules are those of Go's verifier, which kube-apiserver uses;
   * where they need what is not implemented (name constraints), the answer is no.
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

/** A certificate beside the path does no harm, so one that can't be read is only left out. */
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

/** Checks signatures, each once and, of those that count, not more than the bound in all. */
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
 * Finds a path by names and constraints, from the leaf up, and only then checks its signatures, from the root down:
 * a key that the client chose is not used before a trusted key has signed the certificate it is in.
 */
class PathSearch {
  readonly #roots: readonly Certificate[];
  readonly #intermediates: readonly Certificate[];
  readonly #signatures: SignatureChecks;
  readonly #nowMs: number;
  readonly #purpose: Purpose;
  #stepsLeft = PATH_STEPS_MAX;
  /** Why the most promising path failed: what was found nearest to an issuer beats "unknown authority". */
  #reason: string | undefined;

  constructor({ roots, intermediates, signatures, nowMs, purpose }: PathSearchParts) {
    this.#roots = roots;
    this.#intermediates = intermediates;
    this.#signatures = signatures;
    this.#nowMs = nowMs;
    this.#purpose = purpose;
  }

  verify(leaf: Certificate): ChainVerdict {
    const unfit = leaf.clientKeyRefusal ?? this.#unfit(leaf, []);
    if (unfit) return { ok: false, reason: unfit };
    const pinned = this.#roots.some((root) => sameBytes(root.der, leaf.der));
    const path = pinned ? this.#accept([leaf]) : this.#extend([leaf]);
    if (!path) return { ok: false, reason: this.#reason ?? 'signed by an unknown authority' };
    return { ok: true, notAfterMs: Math.min(...path.map((certificate) => certificate.notAfterMs)) };
  }

  #extend(path: readonly Certificate[]): readonly Certificate[] | undefined {
    const child = path[path.length - 1]!;
    const roots = issuersOf(child, this.#roots);
    const intermediates = issuersOf(child, this.#intermediates);
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

  /** Checks the signatures of a path that ends with a root, the root's own first. */
  #isSigned(path: readonly Certificate[]): boolean {
    const isCounted = path.length > 2;
    for (let i = path.length - 2; i >= 0; i--) {
      const signed = this.#signatures.isSignedBy(path[i]!, path[i + 1]!, isCounted);
      if (signed === undefined) this.#reason ??= 'too many possible paths';
      if (!signed) return false;
    }
    return true;
  }

  /** What is wrong with a certificate on top of the path below it, whatever its role. */
  #unfit(certificate: Certificate, below: readonly Certificate[]): string | undefined {
    if (certificate.unknownCritical) return `critical extension ${certificate.unknownCritical} is not understood`;
    if (this.#nowMs < certificate.notBeforeMs) return `not valid before ${iso(certificate.notBeforeMs)}`;
    if (this.#nowMs > certificate.notAfterMs) return `expired at ${iso(certificate.notAfterMs)}`;
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

  /** Usages nest: an authority that is not for a purpose can't make certificates that are. */
  #accept(path: readonly Certificate[]): readonly Certificate[] | undefined {
    const wanted = PURPOSE[this.#purpose];
    const fits = path.every(
      ({ extendedKeyUsages: usages }) => usages.length === 0 || usages.includes(wanted) || usages.includes(ANY_USAGE),
    );
    if (fits) return path;
    this.#reason = `not usable for ${this.#purpose} authentication (extended key usage)`;
    return undefined;
  }
}

/** Candidates by name, octet by octet. Key identifiers only order them, as in Go: not every authority writes them right. */
function issuersOf(child: Certificate, candidates: readonly Certificate[]): Certificate[] {
  const named = candidates.filter((candidate) => sameBytes(candidate.subjectDer, child.issuerDer));
  const differs = ({ subjectKeyId }: Certificate): boolean =>
    subjectKeyId !== undefined && child.authorityKeyId !== undefined && !sameBytes(subjectKeyId, child.authorityKeyId);
  return [...named.filter((candidate) => !differs(candidate)), ...named.filter(differs)];
}

function notAnIssuer(parent: Certificate, isRoot: boolean): string | undefined {
  // Version 1 knows no extensions: such a certificate may be a root, since the operator named it, but nothing else.
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
