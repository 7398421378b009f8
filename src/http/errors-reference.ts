import {
  ATTEMPT_ERROR_TYPES,
  DOCUMENT_FAULTS,
  type ErrorType,
  LIMIT_NAMES,
  READ_FAILURES,
} from '../base/error-types.js';

/** An error class that users meet by its message. */
interface VisibleError {
  readonly source: string;
  readonly seen: string;
  readonly next: string;
}

/** Error classes whose messages reach a user, by class name. */
export const VISIBLE_ERRORS: Readonly<Record<string, VisibleError>> = {
  AttemptError: {
    source: 'src/http/attempt-error.ts',
    seen: 'log; messages of 503 (`tried b: 10.0.0.2:6443: connection refused`); metrics',
    next: 'the table of failed attempts above',
  },
  ApiRefusal: {
    source: 'src/kube/client/api-client.ts',
    seen: 'log of the controllers',
    next: 'none: the controller tries again and deletes nothing meanwhile; a 403 is a missing right',
  },
  ApplyConflictError: {
    source: 'src/apiserver/apply/apply-conflict.ts',
    seen: '409 Conflict of server-side apply',
    next: 'remove the fields that another manager owns, or apply with `--force-conflicts`',
  },
  ConfigError: {
    source: 'src/compose/config/config-error.ts',
    seen: '`straddle: …` before a command ends with exit code 1',
    next: 'the message names the flag, the file or the line, and the nearest valid spelling',
  },
  DeadlineError: {
    source: 'src/http/deadline.ts',
    seen: 'log, as `timeout, no reply in … ms`',
    next: ATTEMPT_ERROR_TYPES.timeout.advice,
  },
  DiscoveryDocumentError: {
    source: 'src/kube/discovery-documents.ts',
    seen: 'log (`discovery of a peer cannot be read`)',
    next: READ_FAILURES.malformed.advice,
  },
  DocumentError: {
    source: 'src/proxy/discovery/document-fetch.ts',
    seen: "log (`a server's document was left out`); metrics",
    next: 'the table of document faults above',
  },
  IssueError: {
    source: 'src/http/tls/issue-certificate.ts',
    seen: 'start of `straddle apiserver` and `straddle up`, which issue their own certificates',
    next: 'delete the authority of the data directory, or give a name or address that a certificate can have',
  },
  KeyError: {
    source: 'src/apiserver/authentication/json-web-token.ts',
    seen: 'start of `straddle apiserver`: --service-account-key-file, --service-account-signing-key-file',
    next: 'use an RSA key or an EC key of P-256, P-384 or P-521, as PEM',
  },
  KubeError: {
    source: 'src/kube/client/kube-error.ts',
    seen: 'log, where the API server refuses a request of Straddle itself',
    next: '403: `straddle rbac | kubectl apply -f -`; 401: check the front-proxy certificate or --kubeconfig',
  },
  NoAnswer: {
    source: 'src/tools/inspect/ask.ts',
    seen: '`straddle status`, `diff` and `check`: `connection refused`, `certificate has expired`, `timeout: …`',
    next: 'the line of `straddle check` has the next step',
  },
  OutboundCallError: {
    source: 'src/apiserver/outbound/outbound-error.ts',
    seen: 'messages of 500 and 503 about webhooks and APIServices, in the words of kube-apiserver',
    next: 'check the Service, its endpoints and the `caBundle` of the webhook or APIService',
  },
  StatusError: {
    source: 'src/kube/status-error.ts',
    seen: 'every API answer of an error, as a `metav1.Status`',
    next: 'reason and message are those of kube-apiserver; after 429 and 503 wait for `Retry-After`',
  },
  StorageError: {
    source: 'src/apiserver/storage/storage-error.ts',
    seen: 'messages of 503 (`the store cannot be reached`), 504 and 500; log; start of `straddle apiserver`',
    next: '`unavailable`: check etcd or the data directory; `uncertain`: read the object, the write may be stored',
  },
  SurfaceCaptureError: {
    source: 'src/apiserver/surfaces/read-server.ts',
    seen: '`straddle surface capture`',
    next: READ_FAILURES.status.advice,
  },
  SurfaceFormatError: {
    source: 'src/apiserver/surfaces/captured-file.ts',
    seen: 'start of `straddle apiserver`: --surface-file, --descriptions-file; `straddle diff --from`, `--to`',
    next: 'write the file again with `straddle surface capture` of this version, or run the newer Straddle that wrote it',
  },
  SurfaceReadError: {
    source: 'src/proxy/peers/surface-reader.ts',
    seen: 'log (`discovery of a peer cannot be read`)',
    next: READ_FAILURES.status.advice,
  },
  TlsFileError: {
    source: 'src/http/tls/tls-files.ts',
    seen: 'start; log, where a changed file cannot be used and the last good one stays in use',
    next: 'the message names the file and its flag',
  },
  TokenError: {
    source: 'src/apiserver/authentication/token-error.ts',
    seen: '`status.error` of a TokenReview; requests get 401',
    next: 'request a new token',
  },
  TokenFileError: {
    source: 'src/apiserver/authentication/token-file.ts',
    seen: 'start of `straddle apiserver`: --token-auth-file',
    next: 'the message names the problem of the CSV file',
  },
  WebhookCallError: {
    source: 'src/apiserver/admission/webhooks/webhook-errors.ts',
    seen: '500 `failed calling webhook "…"`, where its failurePolicy is Fail',
    next: 'check the webhook; kube-apiserver has the same text',
  },
};

/** Error classes that no user meets: each is turned into an API answer, a visible error or a protocol error. */
export const INTERNAL_ERRORS: Readonly<Record<string, string>> = {
  AppliedObjectError: 'StatusError of server-side apply',
  BodyTooLargeError: 'DocumentError or OutboundCallError of type `too-large`',
  CborError: 'a watch that is not continued elsewhere, or a reply that is passed on unread',
  CelCompileError: 'a cause of 422 Invalid, for the rule or match condition',
  ConnectionError: 'GOAWAY with the error code of RFC 9113',
  DerError: 'a certificate or certificate request that is refused',
  GrpcError: 'StorageError',
  HpackError: 'GOAWAY with COMPRESSION_ERROR',
  Http1ResponseError: 'AttemptError of type `protocol`',
  ItemError: 'StatusError, or an object without managed fields',
  JsonPathError: 'an empty column of a table',
  LeadershipLost: 'the end of the work of a controller',
  NotACondition: 'CelCompileError',
  NotYet: 'a later attempt of a controller',
  PatchError: 'StatusError of a patch',
  ProtobufError: 'StatusError with reason BadRequest, or StorageError',
  QuantityError: 'a cause of 422 Invalid',
  ReservedPrefixError: 'a definition that is not served (condition NamesAccepted)',
  ReviewResponseError: 'WebhookCallError',
  SchemaError: 'a definition that is not served',
  SelectorError: 'StatusError with reason BadRequest',
  ServiceAddressError: 'StatusError with reason ServiceUnavailable',
  WebhookAnswerError: 'WebhookCallError',
};

const HEAD = `# Errors

<!-- Generated from src/base/error-types.ts and src/http/errors-reference.ts; \`npx vitest run src/http/errors-reference -u\` writes it again. -->

Labels of metrics for kinds of failures, and the errors that a user can meet, each with the next step. The values of
labels are stable: alerts can be written with them. Log lines about failures have the next step in the field \`advice\`.
`;

/** Returns docs/reference/errors.md; a test keeps the committed page equal to this. */
export function errorsReference(): string {
  return [
    HEAD,
    section(
      'Failed attempts at a server',
      'Label `type` of `apiserver_peer_proxy_errors_total` and `straddle_failovers_total`.',
      ATTEMPT_ERROR_TYPES,
    ),
    section(
      'Discovery that could not be read',
      'Label `type` of `apiserver_peer_discovery_sync_errors_total`.',
      READ_FAILURES,
    ),
    section(
      'Documents that were left out of merged OpenAPI',
      'Label `type` of `straddle_peer_document_faults_total`.',
      DOCUMENT_FAULTS,
    ),
    section(
      'Limits that were reached',
      'Label `limit` of `straddle_limit_hits_total`. [limits.md](limits.md) has their defaults.',
      LIMIT_NAMES,
    ),
    visibleErrors(),
    internalErrors(),
  ].join('\n');
}

function section(title: string, text: string, types: Readonly<Record<string, ErrorType>>): string {
  const rows = Object.entries(types).map(([name, { meaning, advice }]) => `| \`${name}\` | ${meaning} | ${advice} |`);
  return `## ${title}\n\n${text}\n\n| value | meaning | next step |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

function visibleErrors(): string {
  const rows = Object.entries(VISIBLE_ERRORS).map(([name, { seen, next }]) => `| \`${name}\` | ${seen} | ${next} |`);
  const head = '| class | where it is seen | next step |\n| --- | --- | --- |';
  return `## Errors that a user can meet\n\n${head}\n${rows.join('\n')}\n`;
}

function internalErrors(): string {
  const rows = Object.entries(INTERNAL_ERRORS).map(([name, becomes]) => `| \`${name}\` | ${becomes} |`);
  return `## Errors that become another one\n\n| class | becomes |\n| --- | --- |\n${rows.join('\n')}\n`;
}
