import { readBody } from '../../http/body-stream.js';
import type { Reply } from '../../http/exchange.js';
import type { Surface } from '../../kube/surface.js';
import { type DocumentEncoding, encodeDocument } from './discovery-encoding.js';
import { completeApiVersions } from './legacy-api-versions.js';
import { legacyGroupDocument, legacyGroupList } from './legacy-group-list.js';
import { findVersion, legacyResourceList } from './legacy-resource-list.js';
import type { ReadyDocument } from './ready-document.js';
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
    return view.document(`legacy/apis/${encoding}`, () => encodeDocument(legacyGroupList(view.merged), encoding));
  }

  group(view: DiscoveryView, group: string, encoding: DocumentEncoding): LegacyAnswer {
    const document = legacyGroupDocument(view.merged, group);
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
    const make = () => encodeDocument(legacyResourceList(at, version, hashes), encoding);
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
    own: Reply,
    encoding: DocumentEncoding,
  ): Promise<ReadyDocument | { readonly body: Buffer }> {
    const body = await readBody(own.body, API_VERSIONS_BYTES_MAX);
    const document = completeApiVersions(parsed(body), view.merged);
    return document ? encodeDocument(document, encoding) : { body };
  }
}

function groupOf(surface: Surface, name: string) {
  return surface.groups.some((group) => group.metadata.name === name && (group.versions ?? []).length > 0);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
