import type { RequestInfo } from '../../kube/request-info.js';
import { type Surface, serves } from '../../kube/surface.js';
import type { DepartedServer, Peer, PeerTable } from './peer-table.js';

/** Bound on cached results per resource; subresource names are from clients and may be anything. */
const ANSWERS_PER_RESOURCE_MAX = 256;

interface Candidates<T> {
  readonly servers: T[];
  readonly answers: Map<string, readonly T[]>;
}

/** Index of the servers that serve a resource: one look-up for any number of servers and resources. */
class ServerIndex<T extends { readonly surface: Surface | undefined }> {
  readonly #byResource = new Map<string, Candidates<T>>();

  constructor(servers: readonly T[]) {
    for (const server of servers) {
      for (const key of server.surface?.resources.keys() ?? []) {
        const candidates = this.#byResource.get(key);
        if (candidates) candidates.servers.push(server);
        else this.#byResource.set(key, { servers: [server], answers: new Map() });
      }
    }
  }

  find(info: RequestInfo): readonly T[] {
    const candidates = this.#byResource.get(info.resourceKey);
    if (!candidates) return NOBODY;
    const asked = info.subresource === '' ? info.verb : `${info.verb} ${info.subresource}`;
    let answer = candidates.answers.get(asked);
    if (!answer) {
      answer = candidates.servers.filter((server) => server.surface && serves(server.surface, info));
      if (candidates.answers.size >= ANSWERS_PER_RESOURCE_MAX) candidates.answers.clear();
      candidates.answers.set(asked, answer);
    }
    return answer;
  }
}

const NOBODY: readonly never[] = [];

export function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a === b || (a.length === b.length && a.every((item, i) => item === b[i]));
}

export interface PeerTableParts {
  readonly peers: readonly Peer[];
  readonly unread: readonly Peer[];
  readonly departed: readonly DepartedServer[];
}

export function buildPeerTable(parts: PeerTableParts): PeerTable {
  const live = new ServerIndex(parts.peers);
  const gone = new ServerIndex(parts.departed);
  return {
    ...parts,
    capable: (info) => live.find(info),
    departedWith: (info) => gone.find(info)[0],
  };
}
