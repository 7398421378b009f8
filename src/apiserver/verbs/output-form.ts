import type { Exchange } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { type AcceptClause, chooseMediaType, clauseTakes, parseAccept } from '../../kube/accept.js';
import { StatusError } from '../../kube/status-error.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { OutputForm } from '../watch/watch-encoder.js';

export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf';
const ENCODINGS = [
  ['json', 'application', 'json'],
  ['yaml', 'application', 'yaml'],
] as const;
const AS_JSON: OutputForm = { encoding: 'json', as: 'object', version: 'v1', includeObject: 'Metadata' };

/**
 * Negotiates the form of the reply. Protobuf only if the client accepts nothing else and, for a custom
 * resource, only of its metadata. Throws NotAcceptable if no accepted form is possible.
 */
export function outputForm(
  exchange: Exchange,
  query: URLSearchParams,
  type?: Pick<ResourceType, 'origin'>,
): OutputForm {
  const field = headerValue(exchange.headers, 'accept');
  if (field === undefined || field === 'application/json' || field.trim() === '') return AS_JSON;
  const clauses = parseAccept(field);
  for (const clause of clauses) {
    const encoding = ENCODINGS.find(([, type, subtype]) => clauseTakes(clause, type, subtype));
    const as = conversionOf(clause.params);
    if (encoding && as !== undefined) return formOf(clause, encoding[0], as, query);
  }
  for (const clause of clauses) {
    const as = conversionOf(clause.params);
    const hasMessage = as === 'metadata' || (as === 'object' && type?.origin !== 'custom');
    if (hasMessage && clauseTakes(clause, 'application', 'vnd.kubernetes.protobuf')) {
      return formOf(clause, 'protobuf', as, query);
    }
  }
  throw notAcceptable();
}

function formOf(
  { params }: AcceptClause,
  encoding: OutputForm['encoding'],
  as: OutputForm['as'],
  query: URLSearchParams,
): OutputForm {
  const include = query.get('includeObject') ?? '';
  if (as === 'table' && !['', 'None', 'Metadata', 'Object'].includes(include)) {
    const why = `Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`;
    throw new StatusError('BadRequest', `Unable to convert to Table as requested: includeObject: ${why}`);
  }
  return {
    encoding,
    as,
    ...(as === 'metadata' ? { ofList: params.get('as') === 'PartialObjectMetadataList' } : {}),
    version: params.get('v') ?? 'v1',
    includeObject: include === 'None' || include === 'Object' ? include : 'Metadata',
  };
}

/** Throws NotAcceptable if the metadata of a list is requested for one object, or the reverse. */
export function checkNumber({ ofList }: OutputForm, { kind }: Pick<ResourceType, 'kind'>, isList: boolean): void {
  if (ofList === undefined || ofList === isList) return;
  const [asked, given] = isList
    ? ['PartialObjectMetadata', `is a list (${kind}List)`]
    : ['PartialObjectMetadataList', `is not a list (${kind})`];
  throw new StatusError('NotAcceptable', `you requested ${asked}, but the requested object ${given}`);
}

export function notAcceptable(): StatusError {
  return new StatusError(
    'NotAcceptable',
    `only the following media types are accepted: application/json, application/yaml, ${PROTOBUF_MEDIA_TYPE}`,
  );
}

/** Negotiates the form of a watch: lines of JSON, or frames of protobuf if the client accepts nothing else. */
export function watchForm(exchange: Exchange, query: URLSearchParams, type: Pick<ResourceType, 'origin'>): OutputForm {
  const form = outputForm(exchange, query, type);
  if (form.encoding !== 'yaml') return form;
  const field = headerValue(exchange.headers, 'accept');
  if (chooseMediaType(field, ['application/json']) !== undefined) return { ...form, encoding: 'json' };
  throw new StatusError(
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/json;stream=watch',
  );
}

function conversionOf(params: ReadonlyMap<string, string>): OutputForm['as'] | undefined {
  const as = params.get('as');
  if (as === undefined) return 'object';
  const version = params.get('v');
  if (params.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  if (as === 'Table') return 'table';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'metadata' : undefined;
}

/** Returns whether JSON is indented: on request, and for curl and browsers, as in kube-apiserver. */
export function isPretty(exchange: Exchange, query: URLSearchParams): boolean {
  const asked = query.get('pretty');
  if (asked !== null) return asked === '1' || asked === 'true' || asked === '';
  const agent = headerValue(exchange.headers, 'user-agent') ?? '';
  return /^(curl|Wget|Mozilla\/5\.0)/.test(agent);
}
