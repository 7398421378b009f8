import { readBody } from '../../http/body-stream.js';
import type { Reply } from '../../http/exchange.js';
import type { ReadyDocument } from '../../http/ready-document.js';
import type { VersionDiscovery } from '../../kube/discovery.js';
import { parsedObject } from '../../kube/json.js';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from '../../kube/legacy-discovery.js';
import type { Surface } from '../../kube/surface.js';
import { type DocumentEncoding, encodeDocument } from './discovery-encoding.js';
import { findVersion } from './merge.js';
import type { StorageHashReader } from './storage-hashes.js';
import type { DiscoveryView } from './view-cache.js';

/** Bound on the host's reply to `/api`, which has a few hundred bytes. */
const API_VERSIONS_BYTES_MAX = 1024 * 1024;

/** `absent`: no server has it. `departed`: only departed servers had it, so 404 would be wrong. */
export type LegacyAnswer = ReadyDocument | 'absent' | 'departed';

/** Legacy discovery documents from the same view, in the same order as aggregated discovery. */
export class LegacyDiscovery {
  readonly #hashes: StorageHashReader;

  constructor(hashes: StorageHashReader) {
    this.#hashes = hashes;
  }

  groupList(view: DiscoveryView, encoding: DocumentEncoding): ReadyDocument {
    return view.document(`legacy/apis/${encoding}`, () => encodeDocument(apiGroupList(view.merged.groups), encoding));
  }

  group(view: DiscoveryView, group: string, encoding: DocumentEncoding): LegacyAnswer {
    const document = apiGroup(view.merged.groups, group);
    if (!document) return 'absent';
    if (!view.servers.some((s) => !s.departed && groupOf(s.surface, group))) return 'departed';
    return view.document(`legacy/apis/${group}/${encoding}`, () => encodeDocument(document, encoding));
  }

  async resourceList(
    view: DiscoveryView,
    at: { readonly group: string; readonly version: string },
    encoding: DocumentEncoding,
  ): Promise<LegacyAnswer> {
    const version = findVersion(view.merged, at.group, at.version);
    if (!version) return 'absent';
    const live = view.servers.some((s) => !s.departed && findVersion(s.surface, at.group, at.version));
    if (!live) return 'departed';
    const name = `legacy/${at.group}/${at.version}/${encoding}`;
    const known = view.known(name);
    if (known) return known;
    const { hashes, complete } = await this.#hashes.of(view.servers, at);
    const make = () => encodeDocument(sortedResourceList(at, version, hashes), encoding);
    // Without the hashes of some server the list is correct but incomplete: not cached, so that the
    // next request retries.
    return complete ? view.document(name, make) : make();
  }

  /**
   * Completes the host's reply to `/api`; returns the body that was read if it is not an
   * APIVersions.
   */
  async apiVersions(
    view: DiscoveryView,
    hostReply: Reply,
    encoding: DocumentEncoding,
  ): Promise<ReadyDocument | { readonly body: Buffer }> {
    const body = await readBody(hostReply.body, API_VERSIONS_BYTES_MAX);
    const { kind, versions, serverAddressByClientCIDRs: addresses } = parsedObject(body.toString());
    if (kind !== 'APIVersions') return { body };
    const known = Array.isArray(versions) ? versions.filter((version) => typeof version === 'string') : [];
    const all = view.merged.core.flatMap((group) => (group.versions ?? []).map(({ version }) => version));
    const document = apiVersions([...new Set([...all, ...known])], Array.isArray(addresses) ? addresses : []);
    return encodeDocument(document, encoding);
  }
}

function groupOf(surface: Surface, name: string) {
  return surface.groups.some((group) => group.metadata.name === name && (group.versions ?? []).length > 0);
}

/** Makes a list sorted by name: merged bytes must not depend on the order of a server. */
export function sortedResourceList(
  at: { readonly group: string; readonly version: string },
  { resources = [] }: VersionDiscovery,
  storageVersionHashes: ReadonlyMap<string, string>,
) {
  const list = apiResourceList(at, resources, (resource) => storageVersionHashes.get(resource));
  return { ...list, resources: list.resources.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) };
}
