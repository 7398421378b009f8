import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerValues } from '../../http/headers.js';
import { chooseMediaType } from '../../kube/accept.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { definitionToV2, pathToV2 } from './openapi-v2-convert.js';
import { encodeOpenApiV2 } from './openapi-v2-protobuf.js';
import type { OpenApiV3 } from './openapi-v3.js';
import { NOT_CACHED, ReadyBytes, replyWith } from './ready-bytes.js';

export const OPENAPI_V2_PATH = '/openapi/v2';
const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The name that protobuf had at first, by which kubectl still asks. */
const PROTOBUF_TYPE_OF_CLIENTS = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

interface Made {
  readonly json: ReadyBytes;
  /** Only when a client asked for it. */
  protobuf: Promise<ReadyBytes> | undefined;
}

/** OpenAPI v2 of one server: everything in one document, made of those of v3. The last one that was asked for is kept. */
export class OpenApiV2 {
  readonly #documents: OpenApiV3;
  #made: { readonly of: ReadyBytes; readonly making: Promise<Made> } | undefined;

  constructor(documents: OpenApiV3) {
    this.#documents = documents;
  }

  async json(): Promise<ReadyBytes> {
    return (await this.#current()).json;
  }

  async protobuf(): Promise<ReadyBytes> {
    const made = await this.#current();
    made.protobuf ??= inProtobuf(made.json);
    return made.protobuf;
  }

  /** The index of v3 has the hash of all there is: while it is the same, so is this. */
  async #current(): Promise<Made> {
    const of = await this.#documents.index();
    if (this.#made?.of !== of) {
      const making = this.#make();
      this.#made = { of, making };
      making.catch(() => {
        if (this.#made?.making === making) this.#made = undefined;
      });
    }
    return this.#made.making;
  }

  async #make(): Promise<Made> {
    const paths: [string, JsonObject][] = [];
    const definitions = new Map<string, JsonObject>();
    const kinds: Kinds = new Map();
    let info: JsonObject = {};
    for (const path of this.#documents.paths()) {
      const bytes = this.#documents.document(path)?.bytes;
      if (bytes === undefined) continue;
      const document = JSON.parse(bytes.toString()) as JsonObject;
      info = document['info'] as JsonObject;
      for (const [name, item] of Object.entries(document['paths'] as JsonObject)) {
        paths.push([name, pathToV2(item as JsonObject)]);
      }
      const schemas = (document['components'] as JsonObject)['schemas'] as JsonObject;
      for (const [name, schema] of Object.entries(schemas)) {
        if (isObject(schema)) collect(name, schema, definitions, kinds);
      }
      await nextTurn();
    }
    for (const [name, own] of kinds) definitions.get(name)!['x-kubernetes-group-version-kind'] = [...own.values()];
    return {
      json: new ReadyBytes(JSON_TYPE, Buffer.from(JSON.stringify(swagger(info, paths, definitions)))),
      protobuf: undefined,
    };
  }
}

/** The same content, so the same hash. */
async function inProtobuf({ bytes, hash }: ReadyBytes): Promise<ReadyBytes> {
  return new ReadyBytes(PROTOBUF_TYPE, await encodeOpenApiV2(JSON.parse(bytes.toString()) as JsonObject), hash);
}

/** By type, then by how they are written: the kinds that types say they are. */
type Kinds = Map<string, Map<string, JsonObject>>;

/** Types of every group (DeleteOptions) name the kinds of one group in each document; here they name all. */
function collect(name: string, schema: JsonObject, definitions: Map<string, JsonObject>, kinds: Kinds): void {
  const own = schema['x-kubernetes-group-version-kind'];
  for (const each of Array.isArray(own) ? own.filter(isObject) : []) {
    const known = kinds.get(name) ?? new Map<string, JsonObject>();
    kinds.set(name, known.set(JSON.stringify(each), each));
  }
  if (!definitions.has(name)) definitions.set(name, definitionToV2(schema));
}

function swagger(
  info: JsonObject,
  paths: readonly [string, JsonObject][],
  definitions: ReadonlyMap<string, JsonObject>,
): JsonObject {
  return {
    swagger: '2.0',
    info,
    paths: byName(paths),
    definitions: byName([...definitions]),
    securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
    security: [{ BearerToken: [] }],
  };
}

function byName(entries: readonly (readonly [string, JsonObject])[]): JsonObject {
  return Object.fromEntries([...entries].sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** The answer to a request for OpenAPI v2; undefined for every other path. */
export async function openApiV2Reply(
  exchange: Pick<Exchange, 'method' | 'headers' | 'info'>,
  document: OpenApiV2,
): Promise<Reply | undefined> {
  if (exchange.info.path !== OPENAPI_V2_PATH) return undefined;
  const accept = headerValues(exchange.headers, 'accept');
  const offered = [JSON_TYPE, PROTOBUF_TYPE, PROTOBUF_TYPE_OF_CLIENTS];
  const chosen = chooseMediaType(accept.length === 0 ? undefined : accept.join(','), offered);
  if (chosen === undefined) {
    throw new StatusError('NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`);
  }
  const bytes = await (chosen === JSON_TYPE ? document.json() : document.protobuf());
  return replyWith(bytes, exchange, { cacheControl: NOT_CACHED, tagged: true });
}
