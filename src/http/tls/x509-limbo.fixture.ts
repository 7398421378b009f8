export interface LimboDeviation {
  /** Why Straddle's verdict is right where it differs from the one that the case expects. */
  readonly reason: string;
  /** What Straddle does with these cases; x509-limbo expects the opposite. */
  readonly straddle: 'accepts' | 'refuses';
  /** What crypto/x509 of Go 1.26, and so kube-apiserver 1.36, does with them. */
  readonly go: 'accepts' | 'refuses';
  readonly cases: readonly string[];
}

/**
 * Cases of x509-limbo whose expected verdict is not Straddle's. They are about the Web PKI; the reference here is
 * kube-apiserver, which verifies clients with crypto/x509 of Go. No case that Go refuses may be listed as accepted.
 */
export const X509_LIMBO_DEVIATIONS: readonly LimboDeviation[] = [
  {
    reason: 'a client is not looked for under a name: the case is about matching the name of a server',
    straddle: 'accepts',
    go: 'accepts',
    cases: [
      'rfc5280::ca-as-leaf-wrong-san',
      'webpki::cn::case-mismatch',
      'webpki::cn::ipv4-hex-mismatch',
      'webpki::cn::ipv4-leading-zeros-mismatch',
      'webpki::cn::ipv6-non-rfc5952-mismatch',
      'webpki::cn::ipv6-uncompressed-mismatch',
      'webpki::cn::ipv6-uppercase-mismatch',
      'webpki::cn::not-in-san',
      'webpki::cn::punycode-not-in-san',
      'webpki::cn::utf8-vs-punycode-mismatch',
      'webpki::san::mismatch-apex-subdomain-san',
      'webpki::san::mismatch-domain-san',
      'webpki::san::mismatch-subdomain-apex-san',
      'webpki::san::mismatch-subdomain-san',
      'webpki::san::no-san',
      'webpki::san::wildcard-embedded-leftmost-san',
      'webpki::san::wildcard-embedded-ulabel-san',
      'webpki::san::wildcard-match-across-labels-san',
      'webpki::san::wildcard-not-in-leftmost-san',
    ],
  },
  {
    reason: 'alternative names are not used: whom a certificate names is read from its subject alone',
    straddle: 'accepts',
    go: 'accepts',
    cases: [
      'rfc5280::san::ip-in-dns',
      'rfc5280::san::noncritical-with-empty-subject',
      'rfc5280::san::underscore-dns',
      'webpki::san::public-suffix-multi-label-wildcard-san',
      'webpki::san::public-suffix-private-namespace-wildcard-san',
      'webpki::san::public-suffix-wildcard-san',
      'webpki::san::san-critical-with-nonempty-subject',
      'webpki::san::san-wildcard-only',
      'webpki::san::san-wildcard-only-tld',
    ],
  },
  {
    reason: 'kube-apiserver has no revocation lists; a certificate is good until it expires',
    straddle: 'accepts',
    go: 'accepts',
    cases: [
      'crl::crlnumber-critical',
      'crl::crlnumber-missing',
      'crl::issuer-missing-crlsign',
      'crl::revoked-certificate-with-crl',
    ],
  },
  {
    reason: 'the length of a path is bounded by a constant (PATH_CERTIFICATES_MAX), not by its caller',
    straddle: 'accepts',
    go: 'accepts',
    cases: ['pathlen::max-chain-depth-0-exhausted', 'pathlen::max-chain-depth-1-exhausted'],
  },
  {
    reason: 'key identifiers only order the authorities that are tried; the signature decides',
    straddle: 'accepts',
    go: 'accepts',
    cases: [
      'rfc5280::aki::cross-signed-root-missing-aki',
      'rfc5280::aki::intermediate-missing-aki',
      'rfc5280::aki::leaf-missing-aki',
      'rfc5280::ski::intermediate-missing-ski',
      'rfc5280::ski::root-missing-ski',
      'webpki::aki::root-with-aki-all-fields',
      'webpki::aki::root-with-aki-authoritycertissuer',
      'webpki::aki::root-with-aki-authoritycertserialnumber',
      'webpki::aki::root-with-aki-missing-keyidentifier',
      'webpki::aki::root-with-aki-ski-mismatch',
    ],
  },
  {
    reason: 'without a usage every usage is allowed, and an authority may have one: clusters have such certificates',
    straddle: 'accepts',
    go: 'accepts',
    cases: [
      'rfc5280::eku::ee-eku-empty',
      'webpki::eku::ee-anyeku',
      'webpki::eku::ee-critical-eku',
      'webpki::eku::ee-without-eku',
      'webpki::eku::root-has-eku',
    ],
  },
  {
    reason: 'a client may hold the certificate of an authority; the identity is still that of its subject',
    straddle: 'accepts',
    go: 'accepts',
    cases: ['rfc5280::leaf-ku-keycertsign', 'webpki::ca-as-leaf', 'webpki::ee-basicconstraints-ca'],
  },
  {
    reason: 'name constraints in the certificate of a client constrain nothing, since it signs nothing',
    straddle: 'accepts',
    go: 'accepts',
    cases: ['rfc5280::nc::not-allowed-in-ee-critical', 'rfc5280::nc::not-allowed-in-ee-noncritical'],
  },
  {
    reason: 'constraints of DNS names say nothing about a subject; they are not compared, so that they cost nothing',
    straddle: 'accepts',
    go: 'accepts',
    cases: ['pathological::nc-dos-3'],
  },
  {
    reason: 'a rule for authorities that issue; a reader of the certificate is misled by none of these',
    straddle: 'accepts',
    go: 'accepts',
    cases: [
      'rfc5280::ca-empty-subject',
      'rfc5280::root-non-critical-basic-constraints',
      'rfc5280::serial::too-long',
      'rfc5280::serial::zero',
      'webpki::v1-cert',
    ],
  },
  {
    reason: 'RSA keys of 1,024 bits and of odd lengths are in use in clusters; keys below 1,024 bits are refused',
    straddle: 'accepts',
    go: 'accepts',
    cases: [
      'webpki::forbidden-rsa-key-not-divisible-by-8-in-leaf',
      'webpki::forbidden-rsa-not-divisible-by-8-in-root',
      'webpki::forbidden-weak-rsa-in-leaf',
      'webpki::forbidden-weak-rsa-key-in-root',
    ],
  },
  {
    reason: 'name constraints are not implemented: where a name would have to be checked, the answer is no',
    straddle: 'refuses',
    go: 'accepts',
    cases: [
      'rfc5280::nc::excluded-different-constraint-type',
      'rfc5280::nc::nc-forbids-alternate-chain-ica',
      'rfc5280::nc::nc-permits-email-domain',
      'rfc5280::nc::nc-permits-email-exact',
      'rfc5280::nc::nc-permits-email-literal-asterisk-exact-match',
      'rfc5280::nc::nc-permits-email-literal-double-asterisk',
      'rfc5280::nc::nc-permits-email-literal-mid-asterisk',
      'rfc5280::nc::permitted-different-constraint-type',
      'rfc5280::nc::permitted-dns-match',
      'rfc5280::nc::permitted-dns-match-more',
      'rfc5280::nc::permitted-ipv4-match',
      'rfc5280::nc::permitted-ipv6-match',
      'webpki::nc::nc-permits-dns-san-pattern',
      'webpki::nc::permitted-dns-match-noncritical',
    ],
  },
  {
    reason: 'name constraints that Go does not accept either',
    straddle: 'refuses',
    go: 'refuses',
    cases: [
      'rfc5280::nc::nc-forbids-othername-noop',
      'rfc5280::nc::permitted-dn-match',
      'rfc5280::nc::permitted-self-issued',
    ],
  },
  {
    reason: 'self-issued intermediates count towards the path length, as in Go',
    straddle: 'refuses',
    go: 'refuses',
    cases: ['pathlen::self-issued-certs-pathlen'],
  },
  {
    reason: 'a certificate ends with the second of its notAfter, without the fractions that follow, as in Go',
    straddle: 'refuses',
    go: 'refuses',
    cases: ['rfc5280::validity::notafter-fractional'],
  },
];
