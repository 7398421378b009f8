import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerList } from '../../http/headers.js';
import { documentReply, KUBE_APISERVER_GZIP, ReadyDocument } from '../../http/ready-document.js';
import { chooseMediaType } from '../../kube/accept.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { byName, SECURITY } from './openapi-schema.js';
import { definitionToV2, pathToV2 } from './openapi-v2-convert.js';
import { encodeOpenApiV2 } from './openapi-v2-protobuf.js';
import type { OpenApiV3 } from './openapi-v3.js';

const OPENAPI_V2_PATH = '/openapi/v2';
const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The former name of the protobuf type, which kubectl still uses. */
const PROTOBUF_TYPE_OF_CLIENTS = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

interface Made {
  readonly json: ReadyDocument;
  /** Made on first use. */
  protobuf: Promise<ReadyDocument> | undefined;
}

/** OpenAPI v2 of one server: one document, converted from those of v3. The last one is cached. */
export class OpenApiV2 {
  readonly #documents: OpenApiV3;
  #made: { readonly of: ReadyDocument; readonly making: Promise<Made> } | undefined;

  constructor(documents: OpenApiV3) {
    this.#documents = documents;
  }

  async json(): Promise<ReadyDocument> {
    return (await this.#current()).json;
  }

  async protobuf(): Promise<ReadyDocument> {
    const made = await this.#current();
    made.protobuf ??= inProtobuf(made.json);
    return made.protobuf;
  }

  /** The index of v3 has the hashes of all documents, so this changes only with it. */
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
    for (const [name, byJson] of kinds)
      definitions.get(name)!['x-kubernetes-group-version-kind'] = [...byJson.values()];
    return {
      json: new ReadyDocument(
        JSON_TYPE,
        Buffer.from(JSON.stringify(swagger(info, paths, definitions))),
        KUBE_APISERVER_GZIP,
      ),
      protobuf: undefined,
    };
  }
}

/** The same content, so the same hash. */
async function inProtobuf({ bytes, hash }: ReadyDocument): Promise<ReadyDocument> {
  const encoded = await encodeOpenApiV2(JSON.parse(bytes.toString()) as JsonObject);
  return new ReadyDocument(PROTOBUF_TYPE, encoded, KUBE_APISERVER_GZIP, hash);
}

/** Kinds by type, then by their JSON. */
type Kinds = Map<string, Map<string, JsonObject>>;

/** Types of every group (DeleteOptions) list the kinds of all documents. */
function collect(name: string, schema: JsonObject, definitions: Map<string, JsonObject>, kinds: Kinds): void {
  const schemaKinds = schema['x-kubernetes-group-version-kind'];
  for (const each of Array.isArray(schemaKinds) ? schemaKinds.filter(isObject) : []) {
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
    definitions: byName(definitions),
    securityDefinitions: SECURITY,
    security: [{ BearerToken: [] }],
  };
}

/** Replies to a request for OpenAPI v2; undefined for every other path. */
export async function openApiV2Reply(
  exchange: Pick<Exchange, 'method' | 'headers' | 'info'>,
  document: OpenApiV2,
): Promise<Reply | undefined> {
  if (exchange.info.path !== OPENAPI_V2_PATH) return undefined;
  const offered = [JSON_TYPE, PROTOBUF_TYPE, PROTOBUF_TYPE_OF_CLIENTS];
  const chosen = chooseMediaType(headerList(exchange.headers, 'accept'), offered);
  if (chosen === undefined) {
    throw new StatusError('NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`);
  }
  return documentReply(await (chosen === JSON_TYPE ? document.json() : document.protobuf()), exchange);
}
