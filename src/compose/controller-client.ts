import type { Clock } from '../base/clock.js';
import type { EstablishedIdentity } from '../http/identity.js';
import type { WholeReply } from '../http/whole-reply.js';
import { AGGREGATED_V2 } from '../kube/accept.js';
import { type ApiClient, ApiRefusal, type DiscoveredApi } from '../kube/client/api-client.js';
import { requestJson } from '../kube/client/request-json.js';
import { watchJson } from '../kube/client/watch-json.js';
import type { GroupDiscovery } from '../kube/discovery.js';
import { parseAggregated, parseDiscoveryJson } from '../kube/discovery-documents.js';
import { type JsonObject, parsedObject } from '../kube/json.js';
import { sendThrough } from '../proxy/identity/straddle-requests.js';
import type { PeerDirectory } from '../proxy/peers/peer-table.js';
import type { WithinServer } from './start-server.js';

/** The user of the controllers. Every embedded API server grants its rights; see bootstrap.ts there. */
const CONTROLLER_IDENTITY: EstablishedIdentity = {
  kind: 'established',
  user: 'system:straddle-controllers',
  uid: '',
  groups: ['system:authenticated'],
  extra: new Map(),
};

const REQUEST_MS_MAX = 30_000;
const WATCH_HEAD_MS_MAX = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const EVENT_BYTES_MAX = 4 * 1024 * 1024;

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Makes the API client of the controllers; requests pass the routing of their server. */
export function controllerClient({ handler, directory }: WithinServer, clock: Clock): ApiClient {
  const send = sendThrough(
    () => handler,
    () => clock.nowMs(),
    CONTROLLER_IDENTITY,
  );
  const limits = { clock, timeoutMs: REQUEST_MS_MAX, bytesMax: ANSWER_BYTES_MAX };
  const watchLimits = { clock, headTimeoutMs: WATCH_HEAD_MS_MAX, eventBytesMax: EVENT_BYTES_MAX };
  const discovery = new MergedDiscoveryReader(directory, (root) =>
    requestJson(send, { method: 'GET', target: root, accept: AGGREGATED_V2 }, limits),
  );
  return {
    async request({ metadataOnly = false, ...request }) {
      const isList = request.method === 'GET' && request.target.includes('?');
      const accept = metadataOnly ? `${isList ? METADATA_LIST : METADATA},application/json` : 'application/json';
      const { status, body } = await requestJson(send, { ...request, accept }, limits);
      return { status, body: parse(body) };
    },
    watch: ({ metadataOnly, ...watch }) => {
      const accept = metadataOnly ? `${METADATA},application/json` : 'application/json';
      return watchJson(send, { ...watch, accept }, watchLimits);
    },
    discover: () => discovery.read(),
  };
}

function parse(bytes: Buffer): JsonObject {
  return parsedObject(bytes.toString('utf8'));
}

/** Reads merged discovery; parses the two documents only when their bytes have changed. */
class MergedDiscoveryReader {
  readonly #directory: PeerDirectory;
  readonly #get: (root: string) => Promise<WholeReply>;
  #documents: readonly Buffer[] = [];
  #groups: readonly GroupDiscovery[] = [];
  #discovered: DiscoveredApi | undefined;

  constructor(directory: PeerDirectory, get: (root: string) => Promise<WholeReply>) {
    this.#directory = directory;
    this.#get = get;
  }

  async read(): Promise<DiscoveredApi> {
    const gapsBefore = this.#gaps();
    const answers = [await this.#get('/api'), await this.#get('/apis')];
    const gaps = [...new Set([...gapsBefore, ...this.#gaps()])];
    const isSame = answers.every(({ status, body }, index) => status === 200 && this.#documents[index]?.equals(body));
    if (!isSame) {
      this.#groups = answers.flatMap((answer, index) => groupsOf(['/api', '/apis'][index]!, answer));
      this.#documents = answers.map(({ body }) => body);
    }
    if (isSame && this.#discovered?.gaps.join() === gaps.join()) return this.#discovered;
    this.#discovered = { groups: this.#groups, gaps };
    return this.#discovered;
  }

  /** Names the servers whose surface is not in the documents yet. */
  #gaps(): string[] {
    if (!this.#directory.synced()) return ['not every source of peers has answered yet'];
    return this.#directory.snapshot().unread.map(({ identity }) => `what ${identity} serves is not known yet`);
  }
}

/** Throws ApiRefusal, or DiscoveryDocumentError for a malformed document. */
function groupsOf(root: string, { status, body }: WholeReply): GroupDiscovery[] {
  if (status !== 200) throw new ApiRefusal(`read ${root}`, { status, body: parse(body) });
  return parseAggregated(parseDiscoveryJson(body.toString('utf8'), root), root);
}
