import type { GroupDiscovery } from '../discovery.js';
import type { JsonObject } from '../json.js';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  readonly target: string;
  readonly body?: JsonObject;
  /** Of the body; JSON by default. */
  readonly contentType?: string;
  /** Answer with PartialObjectMetadata, or a list of it. */
  readonly metadataOnly?: boolean;
}

export interface ApiAnswer {
  readonly status: number;
  /** Empty if the reply is not a JSON object. */
  readonly body: JsonObject;
}

export interface OpenWatch {
  /** Resolves at the normal end or after `stop`; rejects with ApiRefusal or the error. */
  readonly ended: Promise<void>;
  stop(): void;
}

export interface WatchRequest {
  /** Path and query. */
  readonly target: string;
  readonly metadataOnly: boolean;
  /** The server has accepted the watch. */
  readonly onOpen: () => void;
  /** One at a time, bookmarks and errors included, in the server's order. */
  readonly onEvent: (event: WatchEvent) => void;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** Discovery of the whole control plane at one moment. Immutable. */
export interface DiscoveredApi {
  readonly groups: readonly GroupDiscovery[];
  /** Reasons why `groups` may be incomplete: servers whose discovery has not been read yet. */
  readonly gaps: readonly string[];
}

/**
 * The client of the controllers. Requests go to any server of the control plane that can answer; a
 * refusal is an answer. Implementations bound the time of requests and the size of answers.
 */
export interface ApiClient {
  /** Rejects only without an answer. */
  request(request: ApiRequest): Promise<ApiAnswer>;
  watch(request: WatchRequest): OpenWatch;
  /** Rejects if discovery is incomplete. Returns the same object until a change. */
  discover(): Promise<DiscoveredApi>;
}

/** An answer from which nothing may be concluded: the request is to be repeated. */
export class ApiRefusal extends Error {
  readonly status: number;

  constructor(what: string, { status, body }: ApiAnswer) {
    const { reason, message } = body;
    const said = typeof message === 'string' ? message.slice(0, MESSAGE_CHARS_MAX) : '';
    super(`${what}: ${status}${typeof reason === 'string' ? ` ${reason}` : ''}${said === '' ? '' : `: ${said}`}`);
    this.name = 'ApiRefusal';
    this.status = status;
  }
}

const MESSAGE_CHARS_MAX = 300;

/** The work cannot be done yet and is tried again later; not a failure. */
export class NotYet extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'NotYet';
  }
}

export const MERGE_PATCH = 'application/merge-patch+json';

export function isSuccess({ status }: ApiAnswer): boolean {
  return status >= 200 && status <= 299;
}
