import type { ApiAnswer, ApiRequest } from '../../kube/client/api-client.js';
import { type Api, type Discovered, messageOf } from './api-connection.js';
import type { HalfRecord, RequestVerdict, Share } from './half-record.js';

export interface Expectation {
  readonly share: Share;
  /** Returns whether a 404 would be wrong; called after the reply. */
  readonly exists: () => boolean;
}

/** Returned for a request without a reply. */
const NO_ANSWER: ApiAnswer = { status: 0, body: {} };

/** Statuses that are normal with several writers. */
const ORDINARY = new Set([404, 409, 410]);

/** A client at the front door that records latency and verdict of each request. */
export class MeasuredClient {
  readonly #api: Api;
  readonly #record: HalfRecord;

  constructor(api: Api, record: HalfRecord) {
    this.#api = api;
    this.#record = record;
  }

  /** Never rejects: a request without a reply is a finding too. */
  async request(request: ApiRequest, expectation: Expectation): Promise<ApiAnswer> {
    const what = `${request.method} ${request.target}`;
    const answer = await this.#timed(what, expectation, async () => {
      const { status, body } = await this.#api.request(request);
      return { status, why: messageOf(body), value: { status, body } };
    });
    return answer ?? NO_ANSWER;
  }

  /** Resolves with undefined without a reply. */
  discover(): Promise<Discovered | undefined> {
    const expectation: Expectation = { share: 'common', exists: () => true };
    return this.#timed('GET /apis', expectation, async () => {
      const value = await this.#api.discover();
      return { status: value.status, why: '', value };
    });
  }

  async #timed<T>(
    what: string,
    { share, exists }: Expectation,
    ask: () => Promise<{ readonly status: number; readonly why: string; readonly value: T }>,
  ): Promise<T | undefined> {
    const beganMs = performance.now();
    try {
      const { status, why, value } = await ask();
      const verdict = verdictOf(status, exists);
      const text = `${what}: ${status}${why === '' ? '' : ` ${why}`}`;
      this.#record.answer({ share, verdict, tookMs: performance.now() - beganMs, text });
      return value;
    } catch (error) {
      const text = `${what}: no answer: ${(error as Error).message}`;
      this.#record.answer({ share, verdict: 'other-error', tookMs: performance.now() - beganMs, text });
      return undefined;
    }
  }
}

function verdictOf(status: number, exists: () => boolean): RequestVerdict {
  if (status === 404 && exists()) return 'wrong-404';
  if (status === 503) return 'unavailable-503';
  if ((status >= 200 && status < 300) || ORDINARY.has(status)) return 'well';
  return 'other-error';
}
