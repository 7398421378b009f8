import {
  type ApiAnswer,
  type ApiClient,
  ApiRefusal,
  isSuccess,
  MERGE_PATCH,
  NotYet,
} from '../../../kube/client/api-client.js';
import { text } from '../../../kube/fields.js';
import type { JsonObject } from '../../../kube/json.js';
import { metadataOf } from '../../../kube/metadata-of.js';
import { pathOf } from '../../../kube/resource-kind.js';
import { isDefinitelyAbsent, readFound } from '../answers.js';
import type { CatalogueReader } from '../resource-catalogue.js';
import type { ObservedObject } from './owner-reference.js';

/** An object as just read. Changes have its UID and resource version as preconditions. */
export class LiveObject {
  readonly object: JsonObject;
  readonly metadata: JsonObject;
  readonly #client: ApiClient;
  readonly #target: string;

  constructor(client: ApiClient, target: string, object: JsonObject) {
    this.#client = client;
    this.#target = target;
    this.object = object;
    this.metadata = metadataOf(object);
  }

  /** Path of the object, for messages. */
  get place(): string {
    return this.#target;
  }

  get #name(): string {
    return text(this.metadata, 'name');
  }

  async patchMetadata(change: JsonObject): Promise<void> {
    const { uid, resourceVersion } = this.metadata;
    const metadata: JsonObject = { uid: uid ?? null, resourceVersion: resourceVersion ?? null, ...change };
    const answer = await this.#client.request({
      method: 'PATCH',
      target: this.#target,
      body: { metadata },
      contentType: MERGE_PATCH,
      metadataOnly: true,
    });
    this.#check('change', answer);
  }

  async delete(propagationPolicy: 'Background' | 'Foreground' | 'Orphan'): Promise<void> {
    const preconditions = {
      uid: text(this.metadata, 'uid'),
      resourceVersion: text(this.metadata, 'resourceVersion'),
    };
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy, preconditions };
    this.#check('delete', await this.#client.request({ method: 'DELETE', target: this.#target, body }));
  }

  #check(what: string, answer: ApiAnswer): void {
    if (isSuccess(answer) || isDefinitelyAbsent(answer, this.#name)) return;
    if (answer.status === 409) throw new NotYet(`${this.#target} has changed meanwhile`);
    throw new ApiRefusal(`${what} ${this.#target}`, answer);
  }
}

/** Reads an object. `absent` if certainly gone or replaced; rejects with NotYet if unknown. */
export async function readLive(
  client: ApiClient,
  reader: CatalogueReader,
  seen: ObservedObject,
): Promise<LiveObject | 'absent'> {
  const resource = (await reader.read()).ofKey(seen.resource);
  if (!resource?.isCurrent) throw new NotYet(`${seen.resource} is served by no server at the moment`);
  const target = pathOf(resource, seen.namespace, seen.name);
  const found = readFound(await client.request({ method: 'GET', target, metadataOnly: true }), seen.name);
  if (found.kind === 'unknown') throw new NotYet(`${target}: ${found.why}`);
  if (found.kind === 'absent' || text(metadataOf(found.object), 'uid') !== seen.uid) return 'absent';
  return new LiveObject(client, target, found.object);
}
