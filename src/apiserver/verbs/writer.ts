import { headerValue } from '../../http/headers.js';
import { groupVersion } from '../../kube/gvr.js';
import { FieldSet } from '../apply/field-set.js';
import type { Writer } from '../apply/track-update.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { ApiCall } from './api-call.js';
import { nowText } from './now-text.js';
import { MANAGER_CHARS_MAX, type WriteOptions } from './options.js';

/** Returns the manager that owns the fields of a write. */
export function writerOf(call: ApiCall, options: WriteOptions, subresource = ''): Writer {
  const { type, machinery } = call;
  return {
    manager: options.fieldManager === '' ? fromUserAgent(call) : options.fieldManager,
    apiVersion: groupVersion(type.group, type.version),
    subresource,
    schema: type.schema,
    isBuiltIn: type.origin === 'built-in',
    ignored: ignoredFields(type, subresource),
    now: nowText(machinery.clock),
  };
}

/** The default manager is the beginning of the user agent. */
function fromUserAgent({ exchange }: ApiCall): string {
  const agent = headerValue(exchange.headers, 'user-agent') ?? '';
  const name = agent.split('/', 1)[0]!.replace(/[^\x20-\x7e]/g, '');
  return name === '' ? 'unknown' : name.slice(0, MANAGER_CHARS_MAX);
}

function ignoredFields(type: ResourceType, subresource: string): FieldSet {
  const part = type.strategy.parts.get(subresource);
  if (part) return FieldSet.of(...part.ignoredPaths.map((path) => path.split('.')));
  return type.strategy.hasStatus && subresource === '' ? STATUS : NOTHING;
}

const STATUS = FieldSet.of(['f:status']);
const NOTHING = new FieldSet();
