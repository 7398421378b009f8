import { type ApiAnswer, type ApiRequest, isSuccess, MERGE_PATCH } from '../../kube/client/api-client.js';
import type { JsonObject } from '../../kube/json.js';

/** `unsure`: a write was sent that was neither acknowledged nor refused. */
type Standing = 'absent' | 'exists' | 'unsure';

export type Action = 'create' | 'get' | 'update' | 'delete';

/**
 * One object of one client, with its state according to the acknowledged writes of that client:
 * replies are compared with it. One request at a time, so that none overtakes another.
 */
export class TrackedObject {
  readonly collection: string;
  readonly name: string;
  readonly #body: JsonObject;
  #standing: Standing = 'absent';
  #isBusy = false;
  #round = 0;

  constructor(collection: string, name: string, body: JsonObject) {
    this.collection = collection;
    this.name = name;
    this.#body = body;
  }

  get exists(): boolean {
    return this.#standing === 'exists';
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Sends a request for this object. The next may be sent only after the reply. */
  async perform(action: Action, send: (request: ApiRequest) => Promise<ApiAnswer>): Promise<ApiAnswer> {
    this.#isBusy = true;
    try {
      // From now on a 404 may be right, whether the delete succeeds or not.
      if (action === 'delete') this.#standing = 'unsure';
      const answer = await send(this.#requestFor(action));
      this.#learn(action, answer);
      return answer;
    } finally {
      this.#isBusy = false;
    }
  }

  #requestFor(action: Action): ApiRequest {
    const target = `${this.collection}/${this.name}`;
    if (action === 'create') return { method: 'POST', target: this.collection, body: this.#body };
    if (action === 'get') return { method: 'GET', target };
    if (action === 'delete') return { method: 'DELETE', target };
    const annotations = { 'rehearsal.straddle/round': String(++this.#round) };
    return { method: 'PATCH', target, body: { metadata: { annotations } }, contentType: MERGE_PATCH };
  }

  #learn(action: Action, answer: ApiAnswer): void {
    if (action === 'delete') {
      if (isSuccess(answer)) this.#standing = 'absent';
      return;
    }
    if (isSuccess(answer)) this.#standing = 'exists';
    else if (action === 'create') this.#standing = answer.status === 409 ? 'exists' : 'unsure';
    // A 404 does not end `unsure`: it may be from a server that does not serve the resource.
  }
}
