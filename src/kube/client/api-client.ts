import type { GroupDiscovery } from '../discovery.js';
import type { JsonObject } from '../json.js';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  readonly target: string;
  readonly body?: JsonObject;
  /** Of the body; JSON unless said otherwise. */
  readonly contentType?: string;
  /** Answer with PartialObjectMetadata, or a list of it. */
  readonly metadataOnly?: boolean;
}

export interface ApiAnswer {
  readonly status: number;
  /** Empty where the answer was not a JSON object. */
  readonly body: JsonObject;
}

export interface OpenWatch {
  /** Resolves when the server ended the watch in order, or it was stopped; rejects with ApiRefusal or what broke it. */
  readonly ended: Promise<void>;
  stop(): void;
}

export interface WatchRequest {
  /** Path and query. */
  readonly target: string;
  readonly metadataOnly: boolean;
  /** The server has taken the watch: from now on whatever happens comes in. */
  readonly onOpen: () => void;
  /** One at a time, bookmarks and errors included, in the server's order. */
  readonly onEvent: (event: WatchEvent) => void;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** The API of the whole control plane, as one moment's discovery shows it. Immutable. */
export interface DiscoveredApi {
  readonly groups: readonly GroupDiscovery[];
  /** Why something may be missing from `groups`, one sentence each: a server whose API has not been read yet. */
  readonly gaps: readonly string[];
}

/**
 * What controllers know of the world. Requests go to whichever server of the control plane can answer; a refusal is
 * an answer like any other. Implementations bound every request in time and every answer in size.
 */
export interface ApiClient {
  /** Rejects only where there was no answer at all. */
  request(request: ApiRequest): Promise<ApiAnswer>;
  watch(request: WatchRequest): OpenWatch;
  /** Rejects where discovery was not answered in full. The same object again as long as nothing has changed. */
  discover(): Promise<DiscoveredApi>;
}

/** An answer that leaves open what the asker wanted to know. Never a reason to act; always one to try again. */
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

/** The work can't be done now, through nobody's fault; it is tried again later. */
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
