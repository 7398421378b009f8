import type { Clock } from '../../base/clock.js';
import { eachBounded } from '../../base/each-bounded.js';
import { wholeReply } from '../../http/whole-reply.js';
import type { StraddleRequests } from '../identity/straddle-requests.js';
import type { Peer, PeerDirectory } from '../peers/peer-table.js';
import { REACH_BYTES_MAX, type ReachDocument, readReachDocument } from './reach-document.js';

/** The path at which a Straddle says whom it reaches. */
export const REACH_PATH = '/straddle/api/v1/reach';

export interface ReachReaderOptions {
  readonly directory: Pick<PeerDirectory, 'snapshot'>;
  readonly requests: Pick<StraddleRequests, 'fetchFrom'>;
  readonly clock: Clock;
  /** The server behind this process: a document of that name is not of a peer. */
  readonly serverName: string;
}

/** While somebody looks, each peer is asked this often. */
const ASK_EVERY_MS = 5_000;
const ASK_MS_MAX = 2_000;
/** Older answers are not shown while newer ones are waited for. */
const USABLE_MS_MAX = 15_000;
const ASKED_AT_ONCE_MAX = 16;

/** Asks the Straddles of the peers whom they reach; only while somebody looks at the page. */
export class ReachReader {
  readonly #options: ReachReaderOptions;
  #documents: ReadonlyMap<string, ReachDocument> = new Map();
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  constructor(options: ReachReaderOptions) {
    this.#options = options;
  }

  /** Returns the documents of the last round by peer; a peer that has no Straddle, or did not answer, is missing. */
  get documents(): ReadonlyMap<string, ReachDocument> {
    return this.#documents;
  }

  /**
   * Asks again, if the last round is some seconds old. Waits for the answers only if there are none that are usable, as after a
   * time in which nobody looked. Never rejects.
   */
  async look(): Promise<void> {
    const { clock } = this.#options;
    if (!this.#asking && Math.abs(clock.nowMs() - this.#askedAtMs) >= ASK_EVERY_MS) {
      this.#askedAtMs = clock.nowMs();
      this.#asking = this.#askAll().finally(() => {
        this.#asking = undefined;
      });
    }
    if (Math.abs(clock.nowMs() - this.#answeredAtMs) >= USABLE_MS_MAX) await this.#asking;
  }

  async #askAll(): Promise<void> {
    const { peers } = this.#options.directory.snapshot();
    const answers = await eachBounded(peers, ASKED_AT_ONCE_MAX, async (peer) => {
      const document = await this.#ask(peer);
      return document === undefined ? [] : [[peer.identity, document] as const];
    });
    this.#documents = new Map(ofDistinctServers(answers.flat(), this.#options.serverName));
    this.#answeredAtMs = this.#options.clock.nowMs();
  }

  async #ask({ endpoints }: Peer): Promise<ReachDocument | undefined> {
    const straddles = endpoints.filter(({ kind }) => kind === 'straddle');
    const endpoint = straddles.find((each) => each.usable()) ?? straddles[0];
    if (!endpoint) return undefined;
    const { requests, clock } = this.#options;
    const fetch = requests.fetchFrom(endpoint.destination);
    const limits = { clock, timeoutMs: ASK_MS_MAX, bytesMax: REACH_BYTES_MAX };
    try {
      const accept = ['Accept', 'application/json'];
      const { status, body } = await wholeReply((onAbort) => fetch(REACH_PATH, accept, onAbort), limits, 'reach');
      return status === 200 ? readReachDocument(body.toString('utf8')) : undefined;
    } catch {
      return undefined;
    }
  }
}

type Answer = readonly [identity: string, document: ReachDocument];

/**
 * Leaves out documents of which it is not known whose they are: an address may lead to another server than the one asked (a load
 * balancer, an old lease), and what that one says of itself must not count for this one.
 */
function ofDistinctServers(answers: readonly Answer[], serverName: string): Answer[] {
  const counts = new Map<string, number>();
  const nameOf = ([, { server }]: Answer) => server.toLowerCase();
  for (const each of answers) counts.set(nameOf(each), (counts.get(nameOf(each)) ?? 0) + 1);
  const isOwn = (name: string) => name === '' || name === serverName.toLowerCase();
  return answers.filter((each) => counts.get(nameOf(each)) === 1 && !isOwn(nameOf(each)));
}
