import { eachBounded } from '../../base/each-bounded.js';
import { printableLine } from '../../base/printable.js';
import { parsedObject } from '../../kube/json.js';
import { type Answer, Asker, NoAnswer } from './ask.js';
import type { InspectOptions } from './inspection.js';
import { namedServers } from './named-servers.js';
import type { ListedServer, ServerEndpoint } from './servers.js';

export interface PassthroughOrder {
  readonly on: boolean;
  readonly reason: string;
}

export interface PassthroughOptions extends Omit<InspectOptions, 'given' | 'peerCa'> {
  /** Undefined: only asks. */
  readonly order: PassthroughOrder | undefined;
  /** Names or addresses of servers; empty for all. */
  readonly only: readonly string[];
}

/** `straddle passthrough -o json`. */
export interface PassthroughReport {
  /** Every server that was asked is in the state that was asked for; without an order, every server has replied. */
  readonly done: boolean;
  readonly servers: readonly PassthroughLine[];
  readonly notes: readonly string[];
}

export interface PassthroughLine {
  readonly server: string;
  readonly address: string | null;
  /** `none`: a kube-apiserver that no Straddle stands before. `unknown`: see `detail`. */
  readonly state: 'on' | 'off' | 'none' | 'unknown';
  /** Time of the switch to on. */
  readonly since: string | null;
  readonly reason: string;
  /** Why the state is not known, or does not survive a restart; empty otherwise. */
  readonly detail: string;
}

const PATH = '/straddle/passthrough';
const SERVERS_AT_ONCE_MAX = 64;
const REASONS_SHOWN_MAX = 512;

/** Asks every Straddle of a control plane at its own address, all at once. Rejects if the servers cannot be found. */
export async function passthroughReport(options: PassthroughOptions): Promise<PassthroughReport> {
  const { servers, notes } = await namedServers(options.only, options);
  const lines = await eachBounded(servers, SERVERS_AT_ONCE_MAX, (server) => lineOf(server, options));
  const wanted = wantedState(options);
  const isGood = ({ state }: PassthroughLine) =>
    state === 'none' || (wanted === undefined ? state !== 'unknown' : state === wanted);
  return { done: lines.every(isGood) && lines.some(({ state }) => state !== 'none'), servers: lines, notes };
}

function wantedState({ order }: PassthroughOptions): 'on' | 'off' | undefined {
  return order && (order.on ? 'on' : 'off');
}

/** A Straddle has replied, or `none`: a server that does not know the path. */
type Reached = PassthroughLine & { readonly isStraddle: boolean };

async function lineOf({ name, endpoints }: ListedServer, options: PassthroughOptions): Promise<PassthroughLine> {
  // A kube-apiserver behind a Straddle has nothing to switch, and may be out of reach from here.
  const straddles = endpoints.filter(({ kind }) => kind === 'straddle');
  const asked = straddles.length > 0 ? straddles : endpoints;
  if (asked.length === 0) return unknown(name, null, 'no source has its address; give it with --server=host:port');
  const reached = await Promise.all(asked.map((endpoint) => askEndpoint(name, endpoint, options)));
  const wanted = wantedState(options);
  // Each address may be another process: one that is not as wanted stands for the server.
  const ranks: readonly ((each: Reached) => boolean)[] = [
    ({ isStraddle, state }) => isStraddle && wanted !== undefined && state !== wanted,
    ({ state }) => straddles.length > 0 && state === 'unknown',
    ({ state }) => state === 'on',
    ({ isStraddle }) => isStraddle,
    ({ state }) => state === 'unknown',
  ];
  const first = ranks.map((isSo) => reached.find(isSo)).find((found) => found !== undefined);
  const { isStraddle: _, ...line } = first ?? reached[0]!;
  return line;
}

async function askEndpoint(
  server: string,
  { kind, address }: ServerEndpoint,
  { order, credentials, nowMs, timeoutMs }: PassthroughOptions,
): Promise<Reached> {
  const asker = new Asker({ url: `https://${address}`, credentials, nowMs, timeoutMs });
  try {
    const answer = await asker.request(
      order
        ? { method: 'POST', path: PATH, body: { on: order.on, reason: order.reason } }
        : { method: 'GET', path: PATH },
    );
    return { ...readAnswer(server, { kind, address }, answer), isStraddle: isPage(answer) };
  } catch (error) {
    const why = error instanceof NoAnswer ? error.message : String(error);
    return { ...unknown(server, address, `not reached: ${why}`), isStraddle: false };
  } finally {
    asker.close();
  }
}

function isPage({ status, text }: Answer): boolean {
  return status === 200 && parsedObject(text)['kind'] === 'StraddlePassthrough';
}

function readAnswer(
  server: string,
  { kind, address }: Pick<ServerEndpoint, 'kind' | 'address'>,
  answer: Answer,
): PassthroughLine {
  const body = parsedObject(answer.text);
  if (isPage(answer)) {
    const on = body['on'] === true;
    const notKept = body['notKept'];
    return {
      server,
      address,
      state: on ? 'on' : 'off',
      since: on ? String(body['since']) : null,
      reason: String(body['reason'] ?? '').slice(0, REASONS_SHOWN_MAX),
      detail: typeof notKept === 'string' ? `a restart undoes this: ${notKept}` : '',
    };
  }
  if (answer.status === 404 && kind === 'kube-apiserver') return { ...unknown(server, address, ''), state: 'none' };
  if (answer.status === 404)
    return unknown(server, address, 'its Straddle has no such switch: is it an older release?');
  const message = typeof body['message'] === 'string' ? body['message'] : 'no reason given';
  return unknown(server, address, `refused (${answer.status}): ${message.slice(0, REASONS_SHOWN_MAX)}`);
}

function unknown(server: string, address: string | null, detail: string): PassthroughLine {
  return { server, address, state: 'unknown', since: null, reason: '', detail };
}

export function passthroughText({ servers, notes }: PassthroughReport): string {
  const lines = [...servers.map(lineText), ...notes.map((note) => `Note: ${note}.`)];
  return lines.map((line) => `${printableLine(line)}\n`).join('');
}

function lineText({ server, address, state, since, reason, detail }: PassthroughLine): string {
  const where = address === null || address === server ? server : `${server} (${address})`;
  const because = reason === '' ? '' : ` (${reason})`;
  const but = detail === '' ? '' : `; ${detail}`;
  switch (state) {
    case 'on':
      return `${where}: on since ${since}${because}${but}`;
    case 'off':
      return `${where}: off${but}`;
    case 'none':
      return `${where}: a kube-apiserver without Straddle, nothing to switch`;
    case 'unknown':
      return `${where}: not known, ${detail}`;
  }
}
