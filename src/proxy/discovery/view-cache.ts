import type { ReadyDocument } from '../../http/ready-document.js';
import { type AggregatedVersion, aggregatedParams } from '../../kube/accept.js';
import type { GroupDiscoveryList } from '../../kube/discovery.js';
import { StatusError } from '../../kube/status-error.js';
import type { Surface } from '../../kube/surface.js';
import type { PeerTable } from '../peers/peer-table.js';
import { type DocumentEncoding, encodeDocument } from './discovery-encoding.js';
import { heldWarning } from './held-warning.js';
import { type MergedDiscovery, mergeDiscovery, type ServerSurface } from './merge.js';

/** One of the two roots: `/api` (the core group) or `/apis` (the named groups). */
export type DiscoveryRoot = 'core' | 'groups';

export interface ControlPlaneSources {
  /** Identity of this server among its peers. */
  readonly self: string;
  /** Returns the local surface; undefined until it was read once. */
  local(): Surface | undefined;
  /** Returns an immutable snapshot; synchronous and cheap. */
  peers(): PeerTable;
}

export interface DocumentHooks {
  cacheHit(): void;
  cacheMiss(): void;
}

type Documents = ReadonlyMap<string, ReadyDocument>;

/** One state of the control plane and its documents. Immutable; documents are made on first use. */
export class DiscoveryView {
  readonly servers: readonly ServerSurface[];
  readonly merged: MergedDiscovery;
  readonly #documents = new Map<string, ReadyDocument>();
  readonly #before: Documents;
  readonly #heldWarnings = new Map<DiscoveryRoot, string | undefined>();

  constructor(servers: readonly ServerSurface[], before?: DiscoveryView) {
    this.servers = servers;
    this.merged = mergeDiscovery(servers);
    // Only the documents, not the view: a chain of views would keep every document ever made.
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
      return encodeDocument(list, encoding, aggregatedParams(version));
    });
  }

  /** Returns the value of a Warning header for this root; undefined while nothing is held. Made on first use. */
  heldWarning(root: DiscoveryRoot): string | undefined {
    if (!this.#heldWarnings.has(root)) this.#heldWarnings.set(root, heldWarning(this.servers, root));
    return this.#heldWarnings.get(root);
  }

  known(name: string): ReadyDocument | undefined {
    return this.#documents.get(name);
  }

  /**
   * Returns a document by name, made once. If the bytes are unchanged, the object of the previous
   * view is reused with its compressed form.
   */
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

/**
 * Caches the current view of the control plane. A view is not used once one of its inputs was
 * replaced.
 */
export class ViewCache {
  readonly #sources: ControlPlaneSources;
  readonly #hooks: DocumentHooks;
  #view: DiscoveryView | undefined;
  /** The inputs of the view, or inputs known to have the same surfaces. */
  #madeOf: { readonly local: Surface; readonly peers: PeerTable } | undefined;

  constructor(sources: ControlPlaneSources, hooks: DocumentHooks) {
    this.#sources = sources;
    this.#hooks = hooks;
  }

  /**
   * Returns true if no other server is known, live or departed: the documents of the host are
   * complete.
   */
  alone(): boolean {
    const table = this.#sources.peers();
    return table.peers.length === 0 && table.departed.length === 0;
  }

  /** Returns peers with an unknown surface: a missing resource may be there. */
  unread(): readonly string[] {
    return this.#sources.peers().unread.map((peer) => peer.identity);
  }

  /** Returns the current view; undefined while the local surface is unknown. */
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
    // Set last: if building a view throws, the previous view must not be used for the new inputs.
    this.#madeOf = { local, peers };
    return this.#view;
  }

  /**
   * Like `current`; throws 503 while there is no view: without the part of the local server a
   * document would be incomplete without a sign of it.
   */
  required(): DiscoveryView {
    const view = this.current();
    if (view) return view;
    throw new StatusError('ServiceUnavailable', 'discovery of the local API server has not been read yet');
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

/** Compares by reference: surfaces are immutable and are replaced when they change. */
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
