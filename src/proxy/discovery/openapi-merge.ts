import { setImmediate } from 'node:timers/promises';
import { ReadyDocument } from '../../http/ready-document.js';
import type { JsonObject } from '../../kube/json.js';
import { MERGED_GZIP } from './discovery-encoding.js';
import type { MadeDocument } from './document-cache.js';
import { type OpenApiEncoding, type OpenApiVersion, openApiMediaType } from './openapi-encoding.js';
import { mergeOpenApi, parseOpenApi } from './openapi-merge-json.js';
import { mergeOpenApiProtobuf } from './openapi-merge-protobuf.js';

/** The document of one server as received. `reject` reports it as malformed. */
export interface SourceDocument {
  readonly bytes: Buffer;
  /** True if the content has the expected hash, false if it was replaced meanwhile. */
  readonly exact: boolean;
  reject(why: string): void;
}

/**
 * Merges documents in order of precedence; malformed ones are reported and ignored. Only a complete
 * result has `hash` as its ETag. Returns undefined if no document is left.
 */
export async function mergeSources(
  form: { readonly version: OpenApiVersion; readonly encoding: OpenApiEncoding },
  sources: readonly (SourceDocument | undefined)[],
  hash: string,
): Promise<MadeDocument | undefined> {
  const had = sources.filter((source) => source !== undefined);
  const merged = form.encoding === 'json' ? await mergeJson(had) : mergeProtobuf(form.version, had);
  if (!merged) return undefined;
  const complete = merged.left === sources.length && had.every((source) => source.exact);
  const mediaType = openApiMediaType(form.version, form.encoding);
  return { document: new ReadyDocument(mediaType, merged.bytes, MERGED_GZIP, complete ? hash : undefined), complete };
}

async function mergeJson(sources: readonly SourceDocument[]) {
  const parsed: { readonly bytes: Buffer; readonly value: JsonObject }[] = [];
  for (const source of sources) {
    const value = parseOpenApi(source.bytes.toString());
    if (value) parsed.push({ bytes: source.bytes, value });
    else source.reject('the reply is not an OpenAPI document');
    // Each document takes tens of milliseconds: other requests are served in between.
    await setImmediate();
  }
  if (parsed.length === 0) return undefined;
  // A single document is passed on byte for byte.
  const bytes =
    parsed.length === 1
      ? parsed[0]!.bytes
      : Buffer.from(JSON.stringify(mergeOpenApi(parsed.map(({ value }) => value))));
  return { bytes, left: parsed.length };
}

function mergeProtobuf(version: OpenApiVersion, sources: readonly SourceDocument[]) {
  const sound = sources.filter((source) => {
    if (mergeOpenApiProtobuf(version, [source.bytes])) return true;
    source.reject('the reply is not an OpenAPI document');
    return false;
  });
  if (sound.length === 0) return undefined;
  const bytes =
    sound.length === 1
      ? sound[0]!.bytes
      : mergeOpenApiProtobuf(
          version,
          sound.map((s) => s.bytes),
        )!;
  return { bytes, left: sound.length };
}
