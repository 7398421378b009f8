import type { Clock } from '../base/clock.js';
import { readBody } from '../http/body-stream.js';
import { Deadline } from '../http/deadline.js';
import type { Reply } from '../http/exchange.js';
import type { EstablishedIdentity } from '../http/identity.js';
import { type ApiAnswer, type ApiClient, ApiRefusal, type DiscoveredApi } from '../kube/client/api-client.js';
import { JsonLines } from '../kube/client/json-lines.js';
import type { KubeSend } from '../kube/client/kube-client.js';
import type { GroupDiscovery } from '../kube/discovery.js';
import { isObject, type JsonObject } from '../kube/json.js';
import type { PeerDirectory } from '../proxy/peers/peer-table.js';
import { sendThrough } from '../transport/own-requests.js';
import type { WithinServer } from './start-server.js';

/** Its rights come with every API server of Straddle's own; see bootstrap.ts there. */
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
const REFUSAL_BYTES_MAX = 64 * 1024;

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** The API as controllers inside a server see it: through that server's own routing, so that peers are asked too. */
export function controllerClient({ handler, directory }: WithinServer, clock: Clock): ApiClient {
  const send = sendThrough(
    () => handler,
    () => clock.nowMs(),
    CONTROLLER_IDENTITY,
  );
  const read = async (method: string, target: string, accept: string, body?: Body): Promise<RawAnswer> => {
    const deadline = new Deadline(clock, REQUEST_MS_MAX, `${method} ${target}`);
    try {
      const headers = ['accept', accept, 'accept-encoding', 'identity', ...(body ? body.headers : [])];
      const reply = await deadline.reply(send(method, target, headers, body?.bytes ?? null, deadline.onAbort));
      return { status: reply.status, bytes: await deadline.race(readBody(reply.body, ANSWER_BYTES_MAX)) };
    } finally {
      deadline.end();
    }
  };
  const discovery = new MergedDiscoveryReader(directory, (root) => read('GET', root, AGGREGATED));
  return {
    async request({ method, target, body, contentType = 'application/json', metadataOnly = false }) {
      const isList = method === 'GET' && target.includes('?');
      const accept = metadataOnly ? `${isList ? METADATA_LIST : METADATA},application/json` : 'application/json';
      const { status, bytes } = await read(method, target, accept, body && bodyOf(body, contentType));
      return { status, body: parse(bytes) };
    },
    watch: (request) => openWatch(send, clock, request),
    discover: () => discovery.read(),
  };
}

interface RawAnswer {
  readonly status: number;
  readonly bytes: Buffer;
}

interface Body {
  readonly bytes: Buffer;
  readonly headers: readonly string[];
}

function bodyOf(object: JsonObject, contentType: string): Body {
  const bytes = Buffer.from(JSON.stringify(object));
  return { bytes, headers: ['content-type', contentType, 'content-length', String(bytes.byteLength)] };
}

function parse(bytes: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Parses the two documents only when their bytes have changed, so that asking often costs little. */
class MergedDiscoveryReader {
  readonly #directory: PeerDirectory;
  readonly #get: (root: string) => Promise<RawAnswer>;
  #documents: readonly Buffer[] = [];
  #groups: readonly GroupDiscovery[] = [];
  #discovered: DiscoveredApi | undefined;

  constructor(directory: PeerDirectory, get: (root: string) => Promise<RawAnswer>) {
    this.#directory = directory;
    this.#get = get;
  }

  async read(): Promise<DiscoveredApi> {
    const gapsBefore = this.#gaps();
    const answers = [await this.#get('/api'), await this.#get('/apis')];
    const gaps = [...new Set([...gapsBefore, ...this.#gaps()])];
    const isSame = answers.every(({ status, bytes }, index) => status === 200 && this.#documents[index]?.equals(bytes));
    if (!isSame) {
      this.#groups = answers.flatMap((answer, index) => groupsOf(['/api', '/apis'][index]!, answer));
      this.#documents = answers.map(({ bytes }) => bytes);
    }
    if (isSame && this.#discovered && sameTexts(this.#discovered.gaps, gaps)) return this.#discovered;
    this.#discovered = { groups: this.#groups, gaps };
    return this.#discovered;
  }

  /** What these servers serve is in no document yet. */
  #gaps(): string[] {
    if (!this.#directory.synced()) return ['not every source of peers has answered yet'];
    return this.#directory.snapshot().unread.map(({ identity }) => `what ${identity} serves is not known yet`);
  }
}

function groupsOf(root: string, { status, bytes }: RawAnswer): GroupDiscovery[] {
  const body = parse(bytes);
  if (status !== 200) throw new ApiRefusal(`read ${root}`, { status, body });
  if (body['kind'] !== 'APIGroupDiscoveryList' || !Array.isArray(body['items']))
    throw new Error(`read ${root}: not aggregated discovery was answered`);
  return body['items'] as unknown as GroupDiscovery[];
}

function sameTexts(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((each, index) => each === right[index]);
}

function openWatch(
  send: KubeSend,
  clock: Clock,
  { target, metadataOnly, onOpen, onEvent }: Parameters<ApiClient['watch']>[0],
): ReturnType<ApiClient['watch']> {
  const head = new Deadline(clock, WATCH_HEAD_MS_MAX, `watch ${target}`);
  let stopped = false;
  let abort = () => {};
  const stop = (): void => {
    stopped = true;
    head.cancel('stopped');
    abort();
  };
  const run = async (): Promise<void> => {
    let reply: Reply;
    try {
      const accept = metadataOnly ? `${METADATA},application/json` : 'application/json';
      const headers = ['accept', accept, 'accept-encoding', 'identity'];
      const sent = send('GET', target, headers, null, (listener) => {
        abort = listener;
        return head.onAbort(listener);
      });
      reply = await head.reply(sent);
    } finally {
      head.end();
    }
    if (reply.status !== 200) throw await refusalOf(target, reply);
    if (stopped) return dropped(reply);
    onOpen();
    await follow(reply, onEvent, (cancel) => {
      const before = abort;
      abort = () => {
        cancel();
        before();
      };
    });
  };
  const ended = run().catch((error: unknown) => {
    if (!stopped) throw error;
  });
  return { ended, stop };
}

async function refusalOf(target: string, reply: Reply): Promise<ApiRefusal> {
  const body = parse(await readBody(reply.body, REFUSAL_BYTES_MAX));
  const answer: ApiAnswer = { status: reply.status, body };
  return new ApiRefusal(`watch ${target}`, answer);
}

function dropped({ body }: Reply): void {
  if (body !== null && !(body instanceof Uint8Array)) body.cancel(new Error('stopped'));
}

function follow(
  { body }: Reply,
  onEvent: Parameters<ApiClient['watch']>[0]['onEvent'],
  onCancel: (cancel: () => void) => void,
): Promise<void> {
  const lines = new JsonLines(EVENT_BYTES_MAX);
  const take = (chunk: Uint8Array): void => {
    for (const event of lines.push(chunk)) {
      if (!isObject(event) || typeof event['type'] !== 'string' || !isObject(event['object']))
        throw new Error('an event of a watch is none');
      onEvent({ type: event['type'], object: event['object'] });
    }
  };
  if (body === null || body instanceof Uint8Array) {
    if (body) take(body);
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    onCancel(() => {
      body.cancel(new Error('stopped'));
      resolve();
    });
    body.attach({
      write(chunk) {
        try {
          take(chunk);
          return true;
        } catch (error) {
          body.cancel(error as Error);
          reject(error);
          return false;
        }
      },
      end: () => resolve(),
      fail: reject,
    });
  });
}
