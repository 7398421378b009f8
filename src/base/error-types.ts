/**
 * The catalogue of error types: every value that a metric has in a label for a kind of failure. The values are stable,
 * because alerts are written with them. docs/reference/errors.md is made from these tables.
 */
export interface ErrorType {
  /** One sentence, for the reference page. */
  readonly meaning: string;
  /** Next step of an operator; logged as `advice` with the failure. */
  readonly advice: string;
}

const CHECK_ADDRESS = 'check that the server runs and that its address and port can be reached from this machine';

/** Types of AttemptError: `type` of `apiserver_peer_proxy_errors_total` and `straddle_failovers_total`. */
export const ATTEMPT_ERROR_TYPES = {
  aborted: {
    meaning: 'The client ended its request before the reply began. Never counted against a server.',
    advice: 'none is needed',
  },
  closed: {
    meaning: 'Straddle closed the connection itself: the server no longer belongs to the control plane.',
    advice: 'none is needed; the request is sent to another server where that is safe',
  },
  connect: {
    meaning: 'No TCP connection: connection refused, no route to host, network is unreachable, no such host.',
    advice: CHECK_ADDRESS,
  },
  draining: {
    meaning:
      'The server replied that it is shutting down, or refused the stream (REFUSED_STREAM), and did not carry out the request.',
    advice: 'none is needed during an upgrade; otherwise find out why the server stops, or has no room for streams',
  },
  hang: {
    meaning:
      'A probe of the server had a timeout, so requests that wait for its replies and that another server could take were ended.',
    advice: 'look at the load of the server and at its log: it accepts connections and does not reply',
  },
  'not-taken': {
    meaning: 'The Straddle of a peer replied that the API server behind it is down; nothing was carried out.',
    advice: 'look at the API server behind that Straddle; the request is sent to another server meanwhile',
  },
  protocol: {
    meaning: 'The reply is not valid HTTP/1.1: malformed, too large, or a response nobody asked for.',
    advice: 'check that an API server listens at that address, and no other program or proxy',
  },
  reset: {
    meaning: 'The connection was lost: connection reset by peer, unexpected EOF, broken pipe.',
    advice: 'check whether the server restarted, and proxies, firewalls and idle timeouts between here and there',
  },
  stale: {
    meaning: 'The local server came back while peers were tried and replied that it does not serve the resource.',
    advice: 'none is needed during an upgrade',
  },
  starting: {
    meaning: 'This Straddle has not finished its start.',
    advice: 'wait until /readyz replies ok; its text names the check that fails',
  },
  timeout: {
    meaning: 'No connection or no reply in time.',
    advice: `${CHECK_ADDRESS}; slow replies: --request-timeout`,
  },
  tls: {
    meaning:
      'The TLS handshake failed: certificate has expired, certificate signed by unknown authority, certificate of ' +
      'another name, handshake failure.',
    advice: 'run `straddle check`; compare --peer-ca-file and --upstream-ca-file with the certificate of the server',
  },
  transport: {
    meaning: 'Any other error of a socket or of the HTTP/2 client; the message has its code.',
    advice: 'look at the message; report it where it points at Straddle itself',
  },
} as const satisfies Readonly<Record<string, ErrorType>>;

export type AttemptErrorType = keyof typeof ATTEMPT_ERROR_TYPES;

/** Failures to read discovery of a server: `type` of `apiserver_peer_discovery_sync_errors_total`. */
export const READ_FAILURES = {
  local: {
    meaning: 'Discovery of the local API server could not be read. The last discovery stays in use.',
    advice: 'look at the local API server; its error is in the log',
  },
  malformed: {
    meaning: 'The reply of a peer is not a discovery document, or exceeds its bounds.',
    advice: 'check that an API server listens at that address; `straddle diff` shows what each server serves',
  },
  status: {
    meaning: 'A peer replied with another status than 200, to /readyz or to a read of its discovery.',
    advice:
      'a 401 or 403 is a missing right or an unknown front-proxy certificate: `straddle rbac`, `straddle check`; ' +
      'a 500 of /readyz is a server that starts, stops or has lost its store: look at its log',
  },
  timeout: {
    meaning: 'No complete reply of a peer in time.',
    advice: ATTEMPT_ERROR_TYPES.timeout.advice,
  },
  unreachable: {
    meaning: 'No reply of a peer: refused, reset, or its certificate does not verify.',
    advice: `${CHECK_ADDRESS}; for certificates run \`straddle check\``,
  },
} as const satisfies Readonly<Record<string, ErrorType>>;

export type ReadFailure = keyof typeof READ_FAILURES;

/** Failures to get a document for merged OpenAPI: `type` of `straddle_peer_document_faults_total`. */
export const DOCUMENT_FAULTS = {
  connection: { meaning: 'No reply: refused, reset, or a failed TLS handshake.', advice: CHECK_ADDRESS },
  'content-type': {
    meaning: 'The reply has another media type than was asked for.',
    advice: 'check that an API server listens at that address, and no other program or proxy',
  },
  malformed: { meaning: 'The document cannot be parsed.', advice: 'report it with the document: `kubectl get --raw`' },
  'not-acceptable': {
    meaning: 'No server has the document in the form that was asked for; the client gets 406. Never counted.',
    advice: 'ask for the document as JSON',
  },
  resting: {
    meaning: 'The server or the document failed a moment ago and is not asked again yet. Never counted.',
    advice: 'look for the failure that was logged before',
  },
  status: { meaning: 'The server replied with an unexpected status.', advice: 'look at the log of that server' },
  timeout: { meaning: 'No complete reply in time.', advice: 'look at the load of that server' },
  'too-large': {
    meaning: 'The document is larger than the bound.',
    advice: 'look for CustomResourceDefinitions with very large schemas',
  },
  truncated: {
    meaning: 'The connection was lost in the middle of the document (unexpected EOF, reset).',
    advice: ATTEMPT_ERROR_TYPES.reset.advice,
  },
} as const satisfies Readonly<Record<string, ErrorType>>;

export type DocumentFault = keyof typeof DOCUMENT_FAULTS;

/** Limits that refuse requests or close connections: `limit` of `straddle_limit_hits_total`. */
export const LIMIT_NAMES = {
  'client-progress-timeout': {
    meaning: 'A client neither sent its request body nor read its reply in time.',
    advice: 'for slow links raise --client-progress-timeout',
  },
  'held-heads': {
    meaning:
      'The heads of open requests together were too large: of one HTTP/2 connection, or those above the usual size of all (REFUSED_STREAM, GOAWAY or 429).',
    advice:
      'look for clients with certificates that open many requests with large heads; use more connections, or raise --max-held-memory',
  },
  'max-connections': {
    meaning: 'A new connection displaced an unauthenticated one, or was refused.',
    advice:
      'find out who opens connections (straddle_connections); raise --max-connections and the limit of open files',
  },
  'max-connections-per-address': {
    meaning: 'The same, among the connections of one address.',
    advice: 'behind a load balancer that hides addresses raise --max-connections-per-address',
  },
  'max-header-bytes': {
    meaning: 'The head of a request was too large (431).',
    advice: 'raise --max-header-bytes, or --max-header-bytes-authenticated if the client has a certificate',
  },
  'max-headers-count': {
    meaning: 'A request had too many header lines (431; over HTTP/2 a reset with ENHANCE_YOUR_CALM).',
    advice: 'raise --max-headers-count, or --max-headers-count-authenticated if the client has a certificate',
  },
  'max-held-memory': {
    meaning: 'A body, a reply or a very large head found no memory within the wait in the queue (429).',
    advice: 'use smaller lists (limit=500), or raise --max-held-memory',
  },
  'max-long-running-requests': {
    meaning: 'No place for another watch, log, exec or port-forward (429).',
    advice: 'look for clients that open watches without an end; raise --max-long-running-requests',
  },
  'max-requests-in-flight': {
    meaning: 'No place in flight within the wait in the queue, in all or for the user (429).',
    advice: 'find the user; raise --max-requests-in-flight or --max-requests-in-flight-per-user',
  },
  'max-requests-in-flight-per-peer': {
    meaning: 'A peer works on as many rerouted requests as it may (429).',
    advice: 'look at the latency of that peer; raise --max-requests-in-flight-per-peer',
  },
  'page-stream-stalled': {
    meaning: 'A client of the page took no events for 30 s; its stream was closed.',
    advice: 'none is needed: the page opens another stream',
  },
  'page-streams': {
    meaning: 'Too many streams of the page were open, in all or of one caller (429).',
    advice: 'close pages that nobody looks at',
  },
  'peer-requests-in-flight': {
    meaning: 'Other Straddles ask for more at once than is reserved for them (429).',
    advice: 'look for a Straddle that restarts again and again',
  },
  'pipelined-requests': {
    meaning: 'An HTTP/1.1 client sent more requests ahead than are held; its connection was closed.',
    advice: 'none for Kubernetes clients, which do not pipeline',
  },
} as const satisfies Readonly<Record<string, ErrorType>>;

export type LimitName = keyof typeof LIMIT_NAMES;
