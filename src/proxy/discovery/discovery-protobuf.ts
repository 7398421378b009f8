/**
 * Discovery documents in Kubernetes' protobuf. The messages are few and stable, so they stand here as tables: field
 * name in JSON, field number, and how its value is written. As in Kubernetes' own encoder a single text or flag is
 * written even when it is empty; a list writes its field once for each item.
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

const AGGREGATED_LIST: Message = [
  [
    'metadata',
    1,
    [
      ['selfLink', 1, 'text'],
      ['resourceVersion', 2, 'text'],
      ['continue', 3, 'text'],
    ],
  ],
  [
    'items',
    2,
    [
      ['metadata', 1, OBJECT_META],
      [
        'versions',
        2,
        [
          ['version', 1, 'text'],
          [
            'resources',
            2,
            [
              ['resource', 1, 'text'],
              ['responseKind', 2, KIND],
              ['scope', 3, 'text'],
              ['singularResource', 4, 'text'],
              ['verbs', 5, 'texts'],
              ['shortNames', 6, 'texts'],
              ['categories', 7, 'texts'],
              [
                'subresources',
                8,
                [
                  ['subresource', 1, 'text'],
                  ['responseKind', 2, KIND],
                  ['acceptedTypes', 3, KIND],
                  ['verbs', 4, 'texts'],
                ],
              ],
            ],
          ],
          ['freshness', 3, 'text'],
        ],
      ],
    ],
  ],
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
  // In JSON a plain list, in protobuf a message of its own.
  ['verbs', 4, [['', 1, 'texts']]],
  ['shortNames', 5, 'texts'],
  ['singularName', 6, 'text'],
  ['categories', 7, 'texts'],
  ['group', 8, 'text'],
  ['version', 9, 'text'],
  ['storageVersionHash', 10, 'text'],
];

const MESSAGES: Readonly<Record<string, Message>> = {
  APIGroupDiscoveryList: AGGREGATED_LIST,
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

/** Kubernetes' envelope: four magic bytes, then the type's name and the object in a message of their own. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

export function encodeProtobuf(document: DiscoveryDocument): Buffer {
  const message = MESSAGES[document.kind];
  if (!message) throw new Error(`no protobuf form of ${document.kind}`);
  const typeMeta = Buffer.concat([text(1, document.apiVersion ?? ''), text(2, document.kind)]);
  const object = encode(message, document as unknown as Fields);
  return Buffer.concat([MAGIC, nested(1, typeMeta), nested(2, object), text(3, ''), text(4, '')]);
}

type Fields = Readonly<Record<string, unknown>>;

function encode(message: Message, value: Fields | readonly unknown[]): Buffer {
  const parts: Buffer[] = [];
  for (const [name, id, type] of message) {
    const found = name === '' ? value : (value as Fields)[name];
    if (type === 'text') parts.push(text(id, typeof found === 'string' ? found : ''));
    else if (type === 'flag') parts.push(Buffer.from([id << 3, found === true ? 1 : 0]));
    else if (type === 'texts') for (const item of (found ?? []) as string[]) parts.push(text(id, item));
    else if (type.length === 0) parts.push(nested(id, Buffer.alloc(0)));
    else parts.push(...encodeMessages(id, type, found));
  }
  return Buffer.concat(parts);
}

function encodeMessages(id: number, message: Message, found: unknown): Buffer[] {
  if (found === undefined || found === null) return [];
  const wrapsList = message[0]![0] === '';
  const items = Array.isArray(found) && !wrapsList ? found : [found];
  return items.map((item: Fields) => nested(id, encode(message, item)));
}

function text(id: number, value: string): Buffer {
  return nested(id, Buffer.from(value));
}

/** Wire type 2: a length and that many bytes. No message here has a field number above 15. */
function nested(id: number, bytes: Buffer): Buffer {
  const head = [(id << 3) | 2];
  let length = bytes.length;
  for (; length > 127; length >>>= 7) head.push((length & 127) | 128);
  head.push(length);
  return Buffer.concat([Buffer.from(head), bytes]);
}
