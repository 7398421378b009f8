import { groupVersion } from '../../../kube/gvr.js';
import { cloneJson, type JsonObject } from '../../../kube/json.js';
import type { AdmissionRequest, AdmissionType } from '../admission.js';
import { kindOf } from './invocation.js';

/** The objects of a request in one version. */
export interface VersionedObjects {
  readonly object: JsonObject | null;
  readonly oldObject: JsonObject | null;
}

/** Converts the objects of a request to the versions of webhooks; each conversion is made once. */
export class ReviewVersions {
  readonly #request: AdmissionRequest;
  readonly #made = new Map<AdmissionType, { of: JsonObject | undefined; objects: VersionedObjects }>();

  constructor(request: AdmissionRequest) {
    this.#request = request;
  }

  async in(type: AdmissionType): Promise<VersionedObjects> {
    const { object, oldObject } = this.#request;
    const known = this.#made.get(type);
    if (known && known.of === object) return known.objects;
    const objects = {
      object: object === undefined ? null : await this.#convert(object, this.#request.type, type),
      oldObject:
        oldObject === undefined
          ? null
          : (known?.objects.oldObject ?? (await this.#convert(oldObject, this.#request.type, type))),
    };
    this.#made.set(type, { of: object, objects });
    return objects;
  }

  /** Converts a changed object back to the version of the request. */
  async back(object: JsonObject, type: AdmissionType): Promise<JsonObject> {
    return this.#convert(object, type, this.#request.type);
  }

  async #convert(object: JsonObject, from: AdmissionType, to: AdmissionType): Promise<JsonObject> {
    const { subresource } = this.#request;
    const [source, target] = [kindOf(from, subresource), kindOf(to, subresource)];
    if (target === undefined) return object;
    const apiVersion = groupVersion(target.group, target.version);
    const same = source?.group === target.group && source.version === target.version;
    if (same || (from.conversion.isTrivial && to.conversion.isTrivial)) {
      if (object['apiVersion'] === apiVersion && object['kind'] === target.kind) return object;
      return { ...object, apiVersion, kind: target.kind };
    }
    const stored = await from.conversion.toStored([cloneJson(object)]);
    const [converted] = await to.conversion.toServed(stored);
    return converted!;
  }
}
