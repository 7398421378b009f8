import { parsedObject } from '../../kube/json.js';
import { ASK_TIMEOUT_MS, Asker, type AskerOptions, NoAnswer } from './ask.js';
import { readServingCertificate, type ServingCertificate } from './handshake.js';
import { MetricsPage } from './metrics-text.js';
import type { ServerEndpoint } from './servers.js';
import { NO_ZPAGES, readZpages, type ZpagesReading } from './zpages.js';

/** The replies of one address. Each part may be missing for a reason of its own. */
export interface EndpointReading {
  readonly endpoint: ServerEndpoint;
  /** Why there is no usable reply at the address; undefined if there is one. */
  readonly unreachable: string | undefined;
  /** The machine refused the connection: nobody listens at the address. */
  readonly isRefused: boolean;
  /** `v1.36.4`. */
  readonly version: string | undefined;
  /** Whether the API server is the embedded one of Straddle. */
  readonly isEmbedded: boolean;
  readonly ready: Readiness | undefined;
  readonly metrics: MetricsPage | undefined;
  /** Why there are no metrics. */
  readonly metricsRefusal: string | undefined;
  /** Those of the API server: a Straddle passes the requests on to the one behind it. */
  readonly zpages: ZpagesReading;
  readonly clock: ClockReading | undefined;
  readonly certificate: ServingCertificate | undefined;
  readonly certificateRefusal: string | undefined;
}

export interface Readiness {
  readonly isReady: boolean;
  /** Names of the checks, passed and failed. */
  readonly checks: ReadonlySet<string>;
  readonly failed: readonly string[];
}

/** The server's clock against this machine's. */
export interface ClockReading {
  readonly dateMs: number;
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
}

export interface ReadingOptions extends Pick<AskerOptions, 'credentials' | 'nowMs' | 'timeoutMs'> {
  /** The CA that peers verify each other with; default: that of the credentials. */
  readonly peerCa?: string | undefined;
}

/** Reads from one endpoint everything that `status` and `check` report. Never rejects. */
export async function readEndpoint(endpoint: ServerEndpoint, options: ReadingOptions): Promise<EndpointReading> {
  const { credentials, nowMs, timeoutMs = ASK_TIMEOUT_MS } = options;
  const asker = new Asker({ url: `https://${endpoint.address}`, credentials, nowMs, timeoutMs });
  const handshake = readServingCertificate({
    address: endpoint.address,
    ca: options.peerCa ?? credentials.ca,
    timeoutMs,
  }).then(
    (certificate) => ({ certificate, certificateRefusal: undefined }),
    (error: Error) => ({ certificate: undefined, certificateRefusal: error.message }),
  );
  try {
    const version = await asker.get('/version');
    const [ready, metrics, zpages] = await Promise.all([
      asker.get('/readyz?verbose', '*/*'),
      asker.get('/metrics', 'text/plain'),
      readZpages(asker),
    ]);
    const body = parsedObject(version.text);
    const page = metrics.status === 200 ? new MetricsPage(metrics.text) : undefined;
    // An older Straddle answers all the same, by way of its peers: with their versions and their readiness.
    const isServerDown = page?.sum('straddle_host_ready') === 0;
    return {
      endpoint,
      unreachable: version.status === 401 ? 'it does not know this user (401)' : undefined,
      isRefused: false,
      version: typeof body['gitVersion'] === 'string' && !isServerDown ? body['gitVersion'] : undefined,
      isEmbedded: String(body['goVersion']).startsWith('node'),
      ready: readinessWith(readinessOf(ready.status, ready.text), isServerDown),
      metrics: page,
      metricsRefusal: page ? undefined : metricsRefusal(metrics.status),
      zpages: isServerDown ? NO_ZPAGES : zpages,
      clock: clockOf(version),
      ...(await handshake),
    };
  } catch (error) {
    const why = error instanceof NoAnswer ? error.message : String(error);
    const isRefused = error instanceof NoAnswer && error.code === 'ECONNREFUSED';
    return { ...NOTHING, endpoint, unreachable: why, isRefused, metricsRefusal: why, ...(await handshake) };
  } finally {
    asker.close();
  }
}

const NOTHING = {
  version: undefined,
  isEmbedded: false,
  ready: undefined,
  metrics: undefined,
  zpages: NO_ZPAGES,
  clock: undefined,
} as const;

function readinessWith(ready: Readiness | undefined, isServerDown: boolean): Readiness | undefined {
  if (!isServerDown || ready?.isReady === false) return ready;
  return { isReady: false, checks: ready?.checks ?? new Set(), failed: [SERVER_DOWN] };
}

/** As in the health page of a Straddle whose API server is down. */
export const SERVER_DOWN = 'api-server failed: the local API server takes no requests';

/** Returns whether a Straddle answers, and the API server behind it is down. */
export function isServerDown({ ready }: EndpointReading): boolean {
  return ready?.failed.includes(SERVER_DOWN) ?? false;
}

function metricsRefusal(status: number): string {
  return status === 403 ? 'not allowed to get the non-resource URL /metrics' : `/metrics answered ${status}`;
}

function clockOf({ dateMs, askedAtMs, answeredAtMs }: { dateMs: number | undefined } & Omit<ClockReading, 'dateMs'>) {
  return dateMs === undefined ? undefined : { dateMs, askedAtMs, answeredAtMs };
}

/** Parses lines such as `[-]etcd failed`. Returns undefined if the user may not see health. */
export function readinessOf(status: number, text: string): Readiness | undefined {
  if (status === 401 || status === 403 || status === 404) return undefined;
  const lines = [...text.matchAll(/^\[([+-])\](\S+)(.*)$/gm)];
  return {
    isReady: status === 200,
    checks: new Set(lines.map(([, , name]) => name!)),
    failed: lines.flatMap(([, sign, name, rest]) => (sign === '-' ? [`${name}${rest}`] : [])),
  };
}
