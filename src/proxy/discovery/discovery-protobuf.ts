import { WireWriter } from '../../base/protobuf-wire.js';
import { closeEnvelope } from '../../kube/protobuf-envelope.js';

/**
 * Encodes discovery documents as Kubernetes protobuf. The messages are few and stable, hence
 * tables: field name in JSON, field number, and type. As in Kubernetes' encoder, a single string or
 * bool is written even if it is empty; a list writes its field once per item.
 */
type FieldType = 'text' | 'texts' | 'flag' | Message;
type Message = readonly (readonly [name: string, id: number, type: FieldType])[];

const KIND: Message = [
  ['group', 1, 'text'],
  ['version', 2, 'text'],
  ['kind', 3, 'text'],
];

const OBJECT_META: Message = [
  ['name', 1, 'text'],
  ['generateName', 2, 'text'],
  ['namespace', 3, 'text'],
  ['selfLink', 4, 'text'],
  ['uid', 5, 'text'],
  ['resourceVersion', 6, 'text'],
  ['generation', 7, 'flag'],
  ['creationTimestamp', 8, []],
];

const AGGREGATED_SUBRESOURCE: Message = [
  ['subresource', 1, 'text'],
  ['responseKind', 2, KIND],
  ['acceptedTypes', 3, KIND],
  ['verbs', 4, 'texts'],
];
const AGGREGATED_RESOURCE: Message = [
  ['resource', 1, 'text'],
  ['responseKind', 2, KIND],
  ['scope', 3, 'text'],
  ['singularResource', 4, 'text'],
  ['verbs', 5, 'texts'],
  ['shortNames', 6, 'texts'],
  ['categories', 7, 'texts'],
  ['subresources', 8, AGGREGATED_SUBRESOURCE],
];
const AGGREGATED_VERSION: Message = [
  ['version', 1, 'text'],
  ['resources', 2, AGGREGATED_RESOURCE],
  ['freshness', 3, 'text'],
];
const AGGREGATED_GROUP: Message = [
  ['metadata', 1, OBJECT_META],
  ['versions', 2, AGGREGATED_VERSION],
];
const LIST_META: Message = [
  ['selfLink', 1, 'text'],
  ['resourceVersion', 2, 'text'],
  ['continue', 3, 'text'],
];

const GROUP_VERSION: Message = [
  ['groupVersion', 1, 'text'],
  ['version', 2, 'text'],
];
const SERVER_ADDRESS: Message = [
  ['clientCIDR', 1, 'text'],
  ['serverAddress', 2, 'text'],
];
const GROUP: Message = [
  ['name', 1, 'text'],
  ['versions', 2, GROUP_VERSION],
  ['preferredVersion', 3, GROUP_VERSION],
  ['serverAddressByClientCIDRs', 4, SERVER_ADDRESS],
];
const RESOURCE: Message = [
  ['name', 1, 'text'],
  ['namespaced', 2, 'flag'],
  ['kind', 3, 'text'],
  // A plain list in JSON, a message in protobuf.
  ['verbs', 4, [['', 1, 'texts']]],
  ['shortNames', 5, 'texts'],
  ['singularName', 6, 'text'],
  ['categories', 7, 'texts'],
  ['group', 8, 'text'],
  ['version', 9, 'text'],
  ['storageVersionHash', 10, 'text'],
];

const MESSAGES: Readonly<Record<string, Message>> = {
  APIGroupDiscoveryList: [
    ['metadata', 1, LIST_META],
    ['items', 2, AGGREGATED_GROUP],
  ],
  APIGroupList: [['groups', 1, GROUP]],
  APIGroup: GROUP,
  APIResourceList: [
    ['groupVersion', 1, 'text'],
    ['resources', 2, RESOURCE],
  ],
  APIVersions: [
    ['versions', 1, 'texts'],
    ['serverAddressByClientCIDRs', 2, SERVER_ADDRESS],
  ],
};

export interface DiscoveryDocument {
  readonly kind: string;
  readonly apiVersion?: string;
}

export function encodeDiscoveryProtobuf(document: DiscoveryDocument): Buffer {
  const { apiVersion = '', kind } = document;
  const message = MESSAGES[kind];
  if (!message) throw new Error(`no protobuf form of ${kind}`);
  const writer = new WireWriter();
  encode(writer, message, document as unknown as Fields);
  return closeEnvelope({ apiVersion, kind, raw: writer.finish() });
}

type Fields = Readonly<Record<string, unknown>>;

function encode(writer: WireWriter, message: Message, value: Fields | readonly unknown[]): void {
  for (const [name, id, type] of message) {
    const found = name === '' ? value : (value as Fields)[name];
    if (type === 'text') writer.text(id, typeof found === 'string' ? found : '');
    else if (type === 'flag') writer.flag(id, found === true);
    else if (type === 'texts') for (const item of (found ?? []) as string[]) writer.text(id, item);
    else if (type.length === 0) writer.text(id, '');
    else encodeMessages(writer, { id, message: type, found });
  }
}

function encodeMessages(writer: WireWriter, field: { id: number; message: Message; found: unknown }): void {
  const { id, message, found } = field;
  if (found === undefined || found === null) return;
  const wrapsList = message[0]![0] === '';
  const items = Array.isArray(found) && !wrapsList ? found : [found];
  for (const item of items) writer.message(id, () => encode(writer, message, item as Fields));
}
