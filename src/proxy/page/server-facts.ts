import { member, objectOrEmpty, parsedObject } from '../../kube/json.js';
import type { Surface } from '../../kube/surface.js';
import type { KnownSurface } from '../peers/local-surface.js';
import type { RunningPeerDirectory } from '../peers/peer-directory.js';
import type { PeerState } from '../peers/peer-monitor.js';
import type { ServerState } from './page-state.js';

/** What the page needs to know of the servers; the views of a process by itself and of a head have it. */
export interface FactSources {
  readonly serverName: string;
  readonly peeringActive: boolean;
  readonly hostReady: () => boolean;
  readonly local: Pick<KnownSurface, 'surface' | 'confirmedAtMs' | 'onChange'>;
  readonly directory: Pick<RunningPeerDirectory, 'snapshot' | 'describe' | 'onChange' | 'synced'>;
  readonly passthrough: () => { readonly on: boolean; readonly sinceMs: number; readonly reason: string };
  readonly leaseRenewedAtMs: () => number | undefined;
  readonly certificateExpiresAtMs: () => number | undefined;
  readonly frontProxyExpiresAtMs: () => number | undefined;
  /** Names and addresses under which peers may know this server. */
  readonly ownNames: readonly string[];
  /** This process stops. */
  readonly isDraining: () => boolean;
  readonly nowMs: () => number;
}

/** One server at one moment, as this process knows it. */
export interface ServerFacts {
  readonly name: string;
  readonly isThis: boolean;
  readonly state: ServerState['state'];
  /** In words: the last error, since when. */
  readonly detail: string;
  readonly surface: Surface | undefined;
  readonly endpoints: ServerState['endpoints'];
  /** One of its addresses is that of a Straddle. */
  readonly hasStraddle: boolean;
  readonly surfaceAtMs: number | undefined;
  readonly leaseRenewedAtMs: number | undefined;
  readonly departedAtMs: number | undefined;
}

/** Servers that the page shows. With more, and with the departed ones, those that answer are cut first. */
export const SERVERS_SHOWN_MAX = 257;

/** Returns this server, its peers and the departed ones, by name. */
export function serverFacts(sources: FactSources): ServerFacts[] {
  const { directory } = sources;
  const nowMs = sources.nowMs();
  const described = directory.describe();
  const table = directory.snapshot();
  const surfaces = new Map(table.peers.map(({ identity, surface }) => [identity, surface]));
  const remembered = new Set(table.departed.map(({ identity }) => identity));
  const peers = described.peers
    // One that does not answer and of which nothing is remembered (any more) is a server all the same.
    .filter(({ identity, state }) => state !== 'departed' || !remembered.has(identity))
    .map((peer): ServerFacts => {
      const surface = surfaces.get(peer.identity);
      const usable = peer.endpoints.some((endpoint) => endpoint.usable);
      const error = peer.endpoints.find(({ lastError }) => lastError !== undefined)?.lastError;
      const state = stateOf(peer.state, usable);
      return {
        name: peer.identity,
        isThis: false,
        state,
        detail: state === 'ready' ? '' : (error ?? (state === 'down' ? 'not reached' : 'not read yet')),
        surface,
        endpoints: peer.endpoints.map(({ kind, address, usable: isUsable }) => ({ kind, address, usable: isUsable })),
        hasStraddle: peer.endpoints.some(({ kind }) => kind === 'straddle'),
        surfaceAtMs: peer.surfaceAgeMs === undefined ? undefined : Math.round(nowMs - peer.surfaceAgeMs),
        leaseRenewedAtMs: peer.leaseRenewedAtMs,
        departedAtMs: undefined,
      };
    });
  const names = new Set(peers.map(({ name }) => name));
  const departed = table.departed
    .filter(({ identity }) => !names.has(identity))
    .map(
      ({ identity, departedAtMs, surface }): ServerFacts => ({
        name: identity,
        isThis: false,
        state: 'gone',
        detail: 'remembered for what only it served',
        surface,
        endpoints: [],
        hasStraddle: false,
        surfaceAtMs: undefined,
        leaseRenewedAtMs: undefined,
        departedAtMs,
      }),
    );
  const away = peers.filter(({ state }) => state !== 'ready');
  const ready = peers.filter(({ state }) => state === 'ready');
  const all = [thisServer(sources), ...away, ...departed, ...ready].slice(0, SERVERS_SHOWN_MAX);
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function stateOf(state: PeerState, usable: boolean): ServerState['state'] {
  if (state === 'departed') return 'down';
  return state === 'present' ? (usable ? 'ready' : 'down') : 'unread';
}

function thisServer({ serverName, hostReady, local, leaseRenewedAtMs }: FactSources): ServerFacts {
  const { surface, confirmedAtMs } = local;
  const ready = hostReady();
  return {
    name: serverName,
    isThis: true,
    state: ready ? (surface ? 'ready' : 'unread') : 'down',
    detail: ready ? (surface ? '' : 'its APIs were not read yet') : 'the API server takes no requests',
    surface,
    endpoints: [],
    hasStraddle: true,
    surfaceAtMs: surface && confirmedAtMs > 0 ? confirmedAtMs : undefined,
    leaseRenewedAtMs: leaseRenewedAtMs(),
    departedAtMs: undefined,
  };
}

/** Returns the version of a surface as the page shows it; null if it was never read. */
export function versionOf(surface: Surface | undefined): string | null {
  return surface === undefined || surface.kubernetesVersion === '' ? null : surface.kubernetesVersion;
}

/** Returns the version that a server emulates (`1.36`); null if it names none, or its own. */
export function emulatedVersionOf(surface: Surface | undefined): string | null {
  if (surface?.versionDocument === undefined) return null;
  const document = objectOrEmpty(parsedObject(surface.versionDocument));
  const [major, minor] = [member(document, 'emulationMajor'), member(document, 'emulationMinor')];
  if (!isNumeral(major) || !isNumeral(minor)) return null;
  const own = /^v?(\d+\.\d+)/.exec(surface.kubernetesVersion)?.[1];
  const emulated = `${major}.${minor}`;
  return emulated === own ? null : emulated;
}

function isNumeral(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,4}$/.test(value);
}
