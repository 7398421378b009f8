import type { Exchange, Filter, Reply } from '../../http/exchange.js';
import { readWholeBody } from '../../http/gather-body.js';
import { headerValue } from '../../http/headers.js';
import { parsedObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { STRADDLE_MARK } from '../identity/straddle-mark.js';
import { type Passthrough, type PassthroughSwitched, readWanted } from '../passthrough/passthrough.js';
import { allowedCaller } from './allowed-caller.js';
import type { CallerRightsOptions } from './caller-rights.js';

/** The path at which passthrough is read (GET) and switched (POST). */
export const PASSTHROUGH_PATH = '/straddle/passthrough';

export interface PassthroughPageOptions extends CallerRightsOptions {
  readonly passthrough: Passthrough;
  readonly serverName: string;
  /** The file that switches without the API; undefined for none. */
  readonly file: string | undefined;
}

/** Reply to GET and POST, as the command reads it. */
export interface PassthroughPage {
  readonly kind: 'StraddlePassthrough';
  readonly server: string;
  readonly on: boolean;
  /** Time of the last switch; of the start of the server before one. */
  readonly since: string;
  readonly reason: string;
  readonly file: string | null;
  /** After POST: null if the state survives a restart, else why it does not. */
  readonly notKept: string | null;
}

const BODY_BYTES_MAX = 4 * 1024;
const BODY_MS_MAX = 5_000;

/**
 * Reads and switches passthrough for callers that the API server allows `get` or `post` on the path; never for anonymous
 * ones. Placed after the limits: authorization is a request. Nothing of a body is read before the caller is authorized.
 */
export function passthroughPageFilter(options: PassthroughPageOptions): Filter {
  return {
    name: 'passthrough-page',
    wrap: (next) => (exchange) => (isPage(exchange) ? page(exchange, options) : next(exchange)),
  };
}

function isPage({ info, method, upgrade, peerProxied }: Exchange): boolean {
  if (info.isResource || info.path !== PASSTHROUGH_PATH || upgrade || peerProxied) return false;
  return method === 'GET' || method === 'POST';
}

async function page(exchange: Exchange, options: PassthroughPageOptions): Promise<Reply> {
  const { passthrough } = options;
  checkMediaType(exchange);
  const by = await authorizedCaller(exchange, options);
  if (exchange.method === 'GET') return reply({ state: passthrough.state, notKept: undefined }, options);
  const wanted = readWanted(await readOrder(exchange), by);
  if (!wanted) throw new StatusError('BadRequest', 'give a JSON object such as {"on": true, "reason": "why"}');
  const switched = await passthrough.set(wanted).catch((error: Error) => {
    throw new StatusError(
      'ServiceUnavailable',
      `not known whether passthrough was switched (${error.message}); ask again; ${otherWay(options)}`,
    );
  });
  return reply(switched, options);
}

/** Refuses what a form in a browser can send without a preflight: browsers may have the certificate of an administrator. */
function checkMediaType({ method, headers }: Exchange): void {
  const mediaType = headerValue(headers, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (method === 'GET' || mediaType === 'application/json') return;
  throw new StatusError('UnsupportedMediaType', 'the body must be application/json');
}

/** Returns the name of a caller that may do what it asks for. Throws the refusal for any other. */
function authorizedCaller(exchange: Exchange, options: PassthroughPageOptions): Promise<string> {
  const verb = exchange.method === 'GET' ? 'get' : 'post';
  return allowedCaller(
    exchange,
    {
      path: PASSTHROUGH_PATH,
      verb,
      forbidden: `forbidden: this needs the right to ${verb} the non-resource URL ${PASSTHROUGH_PATH}`,
      unanswered: (why) =>
        `the API server cannot be asked whether this caller may switch passthrough (${why}); ${otherWay(options)}`,
    },
    options,
  );
}

function otherWay({ file }: PassthroughPageOptions): string {
  return file === undefined
    ? 'this Straddle has no file to switch with (--passthrough-file)'
    : `without the API, make the file ${file} on this machine to switch it on and delete the file to switch it off`;
}

/** Reads the body of an authorized caller, without a place in flight meanwhile. */
async function readOrder(exchange: Exchange): Promise<unknown> {
  if (!exchange.body) return undefined;
  if (Number(headerValue(exchange.headers, 'content-length') ?? 0) > BODY_BYTES_MAX) {
    throw new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${BODY_BYTES_MAX}`);
  }
  const whole = readWholeBody(exchange, { bytesMax: BODY_BYTES_MAX, timeoutMs: BODY_MS_MAX });
  const body = await (exchange.holding ? exchange.holding.awaitClient(whole) : whole);
  return parsedObject(body.toString());
}

function reply({ state, notKept }: PassthroughSwitched, { serverName, file }: PassthroughPageOptions): Reply {
  const page: PassthroughPage = {
    kind: 'StraddlePassthrough',
    server: serverName,
    on: state.on,
    since: new Date(state.sinceMs).toISOString(),
    reason: state.reason,
    file: file ?? null,
    notKept: notKept ?? null,
  };
  const body = Buffer.from(`${JSON.stringify(page)}\n`);
  const headers = [
    ...['Content-Type', 'application/json', 'Content-Length', String(body.byteLength)],
    ...['Cache-Control', 'no-cache, private', 'X-Content-Type-Options', 'nosniff'],
    ...STRADDLE_MARK,
  ];
  return { status: 200, headers, body };
}
