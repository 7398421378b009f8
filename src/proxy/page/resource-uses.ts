import { detachedText } from '../../base/detached-text.js';
import { resourceName } from '../../kube/gvr.js';
import type { RequestInfo } from '../../kube/request-info.js';

/** Resources and subresources whose last use is kept; control planes with 5,000 resources exist. */
export const USES_MAX = 16_384;
/** Times are kept to the minute: a page that looks every second would get the whole list each time. */
const EXACTNESS_MS = 60_000;

interface Uses {
  readonly name: string;
  /** By subresource; the empty string for the resource itself. */
  readonly atMs: Map<string, number>;
}

/** When a request for each resource last arrived. The caller sees to it that names are not invented. */
export class ResourceUses {
  readonly #byKey = new Map<string, Uses>();
  #size = 0;

  note(info: RequestInfo, nowMs: number): void {
    const minuteMs = nowMs - (nowMs % EXACTNESS_MS);
    let uses = this.#byKey.get(info.resourceKey);
    if (uses?.atMs.get(info.subresource) === minuteMs) return;
    if (!uses) {
      if (this.#size >= USES_MAX) return;
      uses = { name: detachedText(resourceName(info)), atMs: new Map() };
      this.#byKey.set(detachedText(info.resourceKey), uses);
    }
    if (!uses.atMs.has(info.subresource)) {
      if (this.#size >= USES_MAX) return;
      this.#size += 1;
    }
    uses.atMs.set(detachedText(info.subresource), minuteMs);
  }

  /** Returns the times by the names that `surfaceMatrix` gives to rows. */
  byName(): Map<string, number> {
    const byName = new Map<string, number>();
    for (const { name, atMs } of this.#byKey.values()) {
      for (const [subresource, at] of atMs) byName.set(subresource === '' ? name : `${name}/${subresource}`, at);
    }
    return byName;
  }
}
