import { DerError, DerReader, type DerValue, oidText, TAG } from './der.js';

/** The content of a certificate's extensions that path validation needs. */
export interface CertificateExtensions {
  /** Undefined without a basic constraints extension. */
  readonly isCa: boolean | undefined;
  readonly pathLengthMax: number | undefined;
  /** Undefined without a key usage extension, which then limits nothing. */
  readonly maySignCertificates: boolean | undefined;
  /** Empty without the extension, which then limits nothing. */
  readonly extendedKeyUsages: readonly string[];
  readonly hasAlternativeNames: boolean;
  readonly hasNameConstraints: boolean;
  /** Its name constraints limit more than alternative names, such as directory names. */
  readonly constrainsOtherNames: boolean;
  /** First critical extension that is not implemented; such a certificate must not be used. */
  readonly unknownCritical: string | undefined;
  /** Identifiers of its key and its issuer's, as hints; undefined without the extension. */
  readonly subjectKeyId: Uint8Array | undefined;
  readonly authorityKeyId: Uint8Array | undefined;
}

export const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  authorityKeyIdentifier: '2.5.29.35',
  policyConstraints: '2.5.29.36',
  extendedKeyUsage: '2.5.29.37',
  authorityInformation: '1.3.6.1.5.5.7.1.1',
} as const;

/** Policy constraints are left out: policies are not validated. */
const UNDERSTOOD: ReadonlySet<string> = new Set(
  Object.values(EXTENSION).filter((type) => type !== EXTENSION.policyConstraints),
);

/** RFC 5280, 4.2.1.1, 4.2.1.2 and 4.2.2.1: always non-critical; Go refuses a certificate in which one is not. */
const NEVER_CRITICAL: ReadonlySet<string> = new Set([
  EXTENSION.authorityKeyIdentifier,
  EXTENSION.subjectKeyIdentifier,
  EXTENSION.authorityInformation,
]);

/** RFC 5280, 4.2.1.6: context tags of the kinds of names that Go understands. */
const NAME_TAG = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const;
const NAME_TAGS: ReadonlySet<number> = new Set(Object.values(NAME_TAG));

/** Reads the `[3]` of a certificate to be signed. Throws DerError. */
export function readExtensions(tagged: DerValue | undefined): CertificateExtensions {
  const { values, unknownCritical } = readList(tagged);
  const value = (name: keyof typeof EXTENSION) => values.get(EXTENSION[name])?.value;
  const alternativeNames = values.get(EXTENSION.subjectAltName);
  const understandsNames = alternativeNames && readAlternativeNames(alternativeNames.value);
  checkAuthorityInformation(value('authorityInformation'));
  return {
    ...readBasicConstraints(value('basicConstraints')),
    maySignCertificates: readMaySign(value('keyUsage')),
    extendedKeyUsages: readExtendedKeyUsages(value('extendedKeyUsage')),
    hasAlternativeNames: alternativeNames !== undefined,
    hasNameConstraints: values.has(EXTENSION.nameConstraints),
    constrainsOtherNames: constrainsOtherNames(value('nameConstraints')),
    unknownCritical: alternativeNames?.critical && !understandsNames ? EXTENSION.subjectAltName : unknownCritical,
    subjectKeyId: readSubjectKeyId(value('subjectKeyIdentifier')),
    authorityKeyId: readAuthorityKeyId(value('authorityKeyIdentifier')),
  };
}

interface ExtensionList {
  readonly values: ReadonlyMap<string, { readonly value: Uint8Array; readonly critical: boolean }>;
  readonly unknownCritical: string | undefined;
}

function readList(tagged: DerValue | undefined): ExtensionList {
  const values = new Map<string, { value: Uint8Array; critical: boolean }>();
  let unknownCritical: string | undefined;
  if (!tagged) return { values, unknownCritical };
  const wrapper = new DerReader(tagged.content);
  const list = wrapper.open(TAG.sequence);
  wrapper.end();
  while (!list.done) {
    const extension = list.open(TAG.sequence);
    const type = oidText(extension.read(TAG.objectIdentifier).content);
    const critical = readBoolean(extension.optional(TAG.boolean));
    // Another reader could use the second one instead of the first.
    if (values.has(type)) throw new DerError(`extension ${type} twice`);
    if (critical && NEVER_CRITICAL.has(type)) throw new DerError(`extension ${type}, which may not be critical, is`);
    values.set(type, { value: extension.read(TAG.octetString).content, critical });
    extension.end();
    // RFC 5280, 4.2.1.11: policy constraints must be obeyed, also where they are not critical.
    const binds = critical || type === EXTENSION.policyConstraints;
    if (binds && !UNDERSTOOD.has(type)) unknownCritical ??= type;
  }
  return { values, unknownCritical };
}

function readBoolean(value: DerValue | undefined): boolean {
  if (!value) return false;
  if (value.content.length !== 1 || (value.content[0] !== 0xff && value.content[0] !== 0)) {
    throw new DerError('a malformed boolean');
  }
  return value.content[0] === 0xff;
}

function readBasicConstraints(value: Uint8Array | undefined): Pick<CertificateExtensions, 'isCa' | 'pathLengthMax'> {
  if (!value) return { isCa: undefined, pathLengthMax: undefined };
  const outer = new DerReader(value);
  const constraints = outer.open(TAG.sequence);
  outer.end();
  const isCa = readBoolean(constraints.optional(TAG.boolean));
  const length = constraints.optional(TAG.integer);
  constraints.end();
  return { isCa, pathLengthMax: length ? smallInteger(length.content) : undefined };
}

function smallInteger(content: Uint8Array): number {
  if (content.length === 0 || content.length > 4 || content[0]! >= 0x80) throw new DerError('an integer out of range');
  let value = 0;
  for (const octet of content) value = value * 256 + octet;
  return value;
}

function readMaySign(value: Uint8Array | undefined): boolean | undefined {
  if (!value) return undefined;
  const outer = new DerReader(value);
  const bits = outer.read(TAG.bitString).content;
  outer.end();
  if (bits.length === 0 || bits[0]! > 7) throw new DerError('a malformed key usage');
  // Bit 5 from the left, after the octet that counts the unused bits.
  return ((bits[1] ?? 0) & 0x04) !== 0;
}

function readExtendedKeyUsages(value: Uint8Array | undefined): string[] {
  if (!value) return [];
  const outer = new DerReader(value);
  const list = outer.open(TAG.sequence);
  outer.end();
  const usages: string[] = [];
  while (!list.done) usages.push(oidText(list.read(TAG.objectIdentifier).content));
  return usages;
}

/** Checks the names as Go does. Returns whether there is one of a known kind. */
function readAlternativeNames(value: Uint8Array): boolean {
  const outer = new DerReader(value);
  if (outer.peekTag() !== TAG.sequence) throw new DerError('alternative names that are no list');
  const names = outer.open(TAG.sequence);
  outer.end();
  let isUnderstood = false;
  while (!names.done) {
    const { tag, content } = names.any();
    const isAddress = tag === NAME_TAG.ip;
    if (isAddress && content.length !== 4 && content.length !== 16) {
      throw new DerError('an alternative name that is a malformed IP address');
    }
    if (!isAddress && NAME_TAGS.has(tag) && content.some((octet) => octet >= 0x80)) {
      throw new DerError('an alternative name that is not ASCII');
    }
    isUnderstood ||= NAME_TAGS.has(tag);
  }
  return isUnderstood;
}

/** RFC 5280, 4.2.1.10. */
function constrainsOtherNames(value: Uint8Array | undefined): boolean {
  if (!value) return false;
  const outer = new DerReader(value);
  const constraints = outer.open(TAG.sequence);
  outer.end();
  const subtrees = [constraints.optional(0xa0), constraints.optional(0xa1)];
  constraints.end();
  if (subtrees.every((list) => list === undefined || list.content.length === 0)) {
    throw new DerError('empty name constraints');
  }
  let others = false;
  for (const list of subtrees) {
    const reader = new DerReader(list?.content ?? new Uint8Array());
    while (!reader.done) if (!NAME_TAGS.has(reader.open(TAG.sequence).any().tag)) others = true;
  }
  return others;
}

/** RFC 5280, 4.2.2.1: a list of methods, each with a location. */
function checkAuthorityInformation(value: Uint8Array | undefined): void {
  if (!value) return;
  const outer = new DerReader(value);
  const list = outer.open(TAG.sequence);
  outer.end();
  while (!list.done) {
    const description = list.open(TAG.sequence);
    oidText(description.read(TAG.objectIdentifier).content);
    description.any();
    description.end();
  }
}

function readSubjectKeyId(value: Uint8Array | undefined): Uint8Array | undefined {
  if (!value) return undefined;
  const outer = new DerReader(value);
  const { content } = outer.read(TAG.octetString);
  outer.end();
  return content;
}

function readAuthorityKeyId(value: Uint8Array | undefined): Uint8Array | undefined {
  if (!value) return undefined;
  const outer = new DerReader(value);
  const parts = outer.open(TAG.sequence);
  outer.end();
  return parts.optional(0x80)?.content;
}
