import type { AttemptErrorType, DocumentFault, LimitName, ReadFailure } from './error-types.js';
import { MetricRegistry } from './metrics.js';

const LATENCY_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Declares every metric. Metrics that kube-apiserver has keep its name and meaning. */
export function createMetrics() {
  const registry = new MetricRegistry();
  return {
    registry,
    requests: registry.counter('apiserver_request_total', 'Requests answered, by what was asked and the code.', [
      'verb',
      'group',
      'version',
      'resource',
      'subresource',
      'code',
    ]),
    requestSeconds: registry.histogram(
      'apiserver_request_duration_seconds',
      'Time from the request to the head of its answer, without watches and other long-running requests.',
      LATENCY_SECONDS,
      ['verb'],
    ),
    rerouted: registry.counter('apiserver_rerouted_request_total', 'Requests answered by a peer.', [
      'code',
      'group',
      'version',
      'resource',
    ]),
    proxyErrors: registry.counter<[type: AttemptErrorType, group: string, version: string, resource: string]>(
      'apiserver_peer_proxy_errors_total',
      'Attempts at a peer that failed.',
      ['type', 'group', 'version', 'resource'],
    ),
    discoverySyncErrors: registry.counter<[type: ReadFailure]>(
      'apiserver_peer_discovery_sync_errors_total',
      "Failed reads of a server's discovery.",
      ['type'],
    ),
    discoveryCacheHits: registry.counter(
      'aggregator_discovery_peer_aggregated_cache_hits_total',
      'Merged discovery answered with a document that was ready.',
    ),
    discoveryCacheMisses: registry.counter(
      'aggregator_discovery_peer_aggregated_cache_misses_total',
      'Merged discovery built because something had changed.',
    ),
    discoveryNopeer: registry.counter(
      'aggregator_discovery_nopeer_requests_total',
      "Requests for this server's own view of discovery.",
    ),
    featureEnabled: registry.gauge('kubernetes_feature_enabled', 'Feature gates and whether they are on.', [
      'name',
      'stage',
    ]),
    attemptSeconds: registry.histogram(
      'straddle_peer_attempt_duration_seconds',
      'Time a peer took to begin its answer to a rerouted request.',
      LATENCY_SECONDS,
      ['peer'],
    ),
    overheadSeconds: registry.histogram(
      'straddle_added_latency_seconds',
      "Time of a request that was spent in Straddle itself, outside the API server's own answer.",
      [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25],
      ['route'],
    ),
    failovers: registry.counter<[from: string, type: AttemptErrorType]>(
      'straddle_failovers_total',
      'Requests that moved on after a failed attempt.',
      ['from', 'type'],
    ),
    watchContinuations: registry.counter(
      'straddle_watch_continuations_total',
      'Watches whose server went away, by what became of them.',
      ['outcome'],
    ),
    wrong404sPrevented: registry.counter(
      'straddle_wrong_404_prevented_total',
      'Requests for which the local server alone would have sent a wrong 404, or one that could be wrong.',
      ['how'],
    ),
    unknownOptions: registry.counter<[outcome: 'answered' | 'refused' | 'unavailable']>(
      'straddle_unknown_options_total',
      'Reads refused for a field selector or an option that the server does not know, by what a newer peer answered.',
      ['outcome'],
    ),
    peerInFlight: registry.gauge('straddle_peer_requests_in_flight', 'Requests a peer is working on for this server.', [
      'peer',
      'address',
    ]),
    peerUsable: registry.gauge('straddle_peer_usable', '1 while the peer gets traffic at this address.', [
      'peer',
      'address',
      'kind',
    ]),
    surfaceAgeSeconds: registry.gauge(
      'straddle_surface_age_seconds',
      "Time since a server's discovery was last confirmed.",
      ['server'],
    ),
    departedServers: registry.gauge('straddle_departed_servers', 'Servers remembered after they went away.'),
    departedSinceSeconds: registry.gauge(
      'straddle_departed_since_seconds',
      'When a server that is remembered went away, in Unix time.',
      ['server'],
    ),
    addressConflicts: registry.gauge(
      'straddle_peer_address_conflicts',
      'Addresses that identity leases claim for several host names; a server that has answered there keeps its own.',
    ),
    peersLeftOut: registry.gauge('straddle_peers_left_out', 'Servers sighted beyond the bound, which get no traffic.'),
    servingExpirySeconds: registry.gauge(
      'straddle_serving_certificate_expiry_seconds',
      'When the certificate that this server serves with expires, in Unix time.',
    ),
    frontProxyExpirySeconds: registry.gauge(
      'straddle_front_proxy_certificate_expiry_seconds',
      'When the certificate that this server shows to others as a front proxy expires, in Unix time; nothing without one.',
      ['common_name'],
    ),
    hostReady: registry.gauge('straddle_host_ready', '1 while the API server behind this process takes requests.'),
    passthrough: registry.gauge(
      'straddle_passthrough',
      '1 while the panic switch is on: every request is served by the local server.',
    ),
    passthroughSinceSeconds: registry.gauge(
      'straddle_passthrough_since_seconds',
      'When the panic switch was switched on, in Unix time; nothing while it is off.',
    ),
    inFlight: registry.gauge('straddle_requests_in_flight', 'Requests being worked on or answered, without watches.'),
    queued: registry.gauge('straddle_requests_queued', 'Requests waiting for a place.'),
    longRunning: registry.gauge('straddle_long_running_requests', 'Watches and other long-running requests.'),
    heldMemoryBytes: registry.gauge(
      'straddle_held_memory_bytes',
      'Memory reserved for request bodies and replies that are held as a whole.',
    ),
    pageStreams: registry.gauge('straddle_page_streams', 'Open streams of the page, for people who look at it.'),
    connections: registry.gauge('straddle_connections', 'Client connections.'),
    limitHits: registry.counter<[limit: LimitName]>(
      'straddle_limit_hits_total',
      'Requests refused and connections ended because a limit was reached, by the limit.',
      ['limit'],
    ),
    eventLoopDelaySeconds: registry.gauge(
      'straddle_event_loop_delay_seconds',
      'Longest time that work on one request kept others waiting since this page was last read.',
    ),
    processCpuSeconds: registry.counter('process_cpu_seconds_total', 'CPU time of the process, user and system.'),
    processMemoryBytes: registry.gauge('process_resident_memory_bytes', 'Resident memory of the process.'),
    processFiles: {
      open: registry.gauge('process_open_fds', 'Open file descriptors.'),
      max: registry.gauge('process_max_fds', 'Limit on open file descriptors.'),
    },
    processStartSeconds: registry.gauge('process_start_time_seconds', 'When the process started, in Unix time.'),
    workerConnections: registry.gauge(
      'straddle_worker_connections',
      'Connections of each worker process that serves; nothing where one process does it all.',
      ['worker'],
    ),
    workerRestarts: registry.counter(
      'straddle_worker_restarts_total',
      'Worker processes that ended and were replaced.',
    ),
    documentFaults: registry.counter<[type: DocumentFault]>(
      'straddle_peer_document_faults_total',
      'Documents of a peer that could not be used.',
      ['type'],
    ),
    controllersLeader: registry.gauge('straddle_controllers_leader', '1 while this server runs the controllers.'),
    controllerWaits: registry.counter(
      'straddle_controller_waits_total',
      'Times a controller put work off because it could not be told what is there.',
      ['controller'],
    ),
    namespacesFinalized: registry.counter('straddle_namespaces_finalized_total', 'Namespaces emptied and let go.'),
    objectsCollected: registry.counter(
      'straddle_objects_collected_total',
      'Objects deleted because their owners are gone.',
      ['policy'],
    ),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
