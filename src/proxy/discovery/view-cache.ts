import type { AggregatedVersion } from '../../kube/accept.js';
import type { GroupDiscoveryList } from '../../kube/discovery.js';
import type { Surface } from '../../kube/surface.js';
import type { PeerTable } from '../peers/peer-table.js';
import { type DocumentEncoding, encodeDocument } from './discovery-encoding.js';
import { type MergedDiscovery, mergeDiscovery, type ServerSurface } from './merge.js';
import type { ReadyDocument } from './ready-document.js';

/** Which of the two roots: `/api` (the core group) or `/apis` (the named ones). */
export type DiscoveryRoot = 'core' | 'groups';

export interface ControlPlaneSources {
  /** This server's own identity, the one its peers know it by. */
  readonly self: string;
  /** Undefined until the local host's discovery could be read once. */
  local(): Surface | undefined;
  /** A snapshot; synchronous and cheap. */
  peers(): PeerTable;
}

export interface DocumentHooks {
  cacheHit(): void;
  cacheMiss(): void;
}

type Documents = ReadonlyMap<string, ReadyDocument>;

/** Everything that can be told from one state of the control plane. Immutable; documents are made when first asked for. */
export class DiscoveryView {
  readonly servers: readonly ServerSurface[];
  readonly merged: MergedDiscovery;
  readonly #documents = new Map<string, ReadyDocument>();
  readonly #before: Documents;

  constructor(servers: readonly ServerSurface[], before?: DiscoveryView) {
    this.servers = servers;
    this.merged = mergeDiscovery(servers);
    // Its documents only: a chain of views would keep every document ever made.
    this.#before = before ? before.#documents : new Map();
  }

  aggregated(root: DiscoveryRoot, version: AggregatedVersion, encoding: DocumentEncoding = 'json'): ReadyDocument {
    return this.document(`aggregated/${root}/${version}/${encoding}`, () => {
      const list: GroupDiscoveryList = {
        kind: 'APIGroupDiscoveryList',
        apiVersion: `apidiscovery.k8s.io/${version}`,
        metadata: {},
        items: this.merged[root],
      };
      return encodeDocument(list, encoding, `;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`);
    });
  }

  known(name: string): ReadyDocument | undefined {
    return this.#documents.get(name);
  }

  /** A document of this view by name, made once. Unchanged bytes keep the compressed form of the view before. */
  document(name: string, make: () => ReadyDocument): ReadyDocument {
    const known = this.#documents.get(name);
    if (known) return known;
    const made = make();
    const before = this.#before.get(name);
    const document = before?.etag === made.etag && before.contentType === made.contentType ? before : made;
    this.#documents.set(name, document);
    return document;
  }
}

/** Keeps the view of the control plane as it is now. A view is never served once one of its inputs has been replaced. */
export class ViewCache {
  readonly #sources: ControlPlaneSources;
  readonly #hooks: DocumentHooks;
  #view: DiscoveryView | undefined;
  /** What the view was made of, or is known to be the same as. */
  #madeOf: { readonly local: Surface; readonly peers: PeerTable } | undefined;

  constructor(sources: ControlPlaneSources, hooks: DocumentHooks) {
    this.#sources = sources;
    this.#hooks = hooks;
  }

  /** No other server is known, alive or departed: the local host's own documents say it all. */
  alone(): boolean {
    const table = this.#sources.peers();
    return table.peers.length === 0 && table.departed.length === 0;
  }

  /** Peers of which nothing is known yet: something missing here may be there. */
  unread(): readonly string[] {
    return this.#sources.peers().unread.map((peer) => peer.identity);
  }

  /** Undefined while this server's own surface is not known. */
  current(): DiscoveryView | undefined {
    const local = this.#sources.local();
    if (!local) return undefined;
    const peers = this.#sources.peers();
    if (this.#view && this.#madeOf?.local === local && this.#madeOf.peers === peers) {
      this.#hooks.cacheHit();
      return this.#view;
    }
    const servers = this.#servers(local, peers);
    if (this.#view && sameServers(this.#view.servers, servers)) this.#hooks.cacheHit();
    else {
      this.#hooks.cacheMiss();
      this.#view = new DiscoveryView(servers, this.#view);
    }
    // Last: where making a view fails, the one before must not pass for it.
    this.#madeOf = { local, peers };
    return this.#view;
  }

  #servers(local: Surface, table: PeerTable): readonly ServerSurface[] {
    const servers: ServerSurface[] = [{ identity: this.#sources.self, surface: local, departed: false }];
    for (const peer of table.peers) {
      if (peer.surface) servers.push({ identity: peer.identity, surface: peer.surface, departed: false });
    }
    for (const { identity, surface } of table.departed) servers.push({ identity, surface, departed: true });
    return servers;
  }
}

/** Surfaces are immutable and replaced when they change, so comparing references is enough. */
function sameServers(a: readonly ServerSurface[], b: readonly ServerSurface[]): boolean {
  return (
    a.length === b.length &&
    a.every((server, i) => {
      const other = b[i]!;
      return (
        server.surface === other.surface && server.identity === other.identity && server.departed === other.departed
      );
    })
  );
}
