import { readFileSync } from 'node:fs';

type ScalarType = 'string' | 'bytes' | 'bool' | 'int32' | 'int64' | 'double';

/** Types with a special form in JSON. */
export type SpecialType =
  | 'Time'
  | 'MicroTime'
  | 'FieldsV1'
  | 'Quantity'
  | 'IntOrString'
  | 'RawExtension'
  | 'JSON'
  | 'JSONSchemaPropsOrArray'
  | 'JSONSchemaPropsOrBool'
  | 'JSONSchemaPropsOrStringArray';

export type FieldType =
  | { readonly scalar: ScalarType }
  | { readonly special: SpecialType }
  | { readonly message: Message };

export interface Field {
  /** As in JSON. Empty for an inlined field, and for the field of a list message. */
  readonly name: string;
  readonly number: number;
  /** The members of the message are members of the object itself. */
  readonly isInlined: boolean;
  /** An empty value differs from an absent one. */
  readonly isPointer: boolean;
  /** Written even if empty. */
  readonly isWritten: boolean;
  readonly shape: 'one' | 'list' | 'map';
  readonly type: FieldType;
}

export interface Message {
  readonly name: string;
  /** The message is a list in JSON. */
  readonly isList: boolean;
  /** In the order of Go's declaration, which is that of its JSON. */
  readonly fields: readonly Field[];
  readonly byNumber: ReadonlyMap<number, Field>;
}

interface MessagesFile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly apiVersion: string;
        readonly kinds: string;
        readonly messages: Readonly<Record<string, string>>;
      }
    >
  >;
}

const DATA = new URL('./data/messages.json', import.meta.url);
const META_API_VERSION = 'meta.k8s.io/v1';
const JSON_SCHEMA_PROPS = 'apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
const SCALARS: ReadonlySet<string> = new Set(['string', 'bytes', 'bool', 'int32', 'int64', 'double']);
const SPECIALS: ReadonlyMap<string, SpecialType> = new Map([
  ['apimachinery.pkg.apis.meta.v1.Time', 'Time'],
  ['apimachinery.pkg.apis.meta.v1.MicroTime', 'MicroTime'],
  ['apimachinery.pkg.apis.meta.v1.FieldsV1', 'FieldsV1'],
  ['apimachinery.pkg.api.resource.Quantity', 'Quantity'],
  ['apimachinery.pkg.util.intstr.IntOrString', 'IntOrString'],
  ['apimachinery.pkg.runtime.RawExtension', 'RawExtension'],
  ...(['JSON', 'JSONSchemaPropsOrArray', 'JSONSchemaPropsOrBool', 'JSONSchemaPropsOrStringArray'] as const).map(
    (name) => [JSON_SCHEMA_PROPS.replace('JSONSchemaProps', name), name] as const,
  ),
]);

/** Messages of built-in kinds, recorded by test/real/record-protobuf.ts; parsed on first use. */
class MessageTable {
  readonly #file: MessagesFile;
  readonly #kinds = new Map<string, string>();
  readonly #messages = new Map<string, Message>();

  constructor(file: MessagesFile) {
    this.#file = file;
    for (const [name, { apiVersion, kinds }] of Object.entries(file.packages)) {
      for (const kind of kinds.split(' ')) this.#kinds.set(`${apiVersion}/${kind}`, `${name}.${kind}`);
    }
  }

  /** Kinds of meta (DeleteOptions, Status) belong to every group-version. */
  kind(apiVersion: string, kind: string): Message | undefined {
    const name = this.#kinds.get(`${apiVersion}/${kind}`) ?? this.#kinds.get(`${META_API_VERSION}/${kind}`);
    return name === undefined ? undefined : this.message(name);
  }

  message(fullName: string): Message {
    const known = this.#messages.get(fullName);
    if (known !== undefined) return known;
    const dot = fullName.lastIndexOf('.');
    const owner = fullName.slice(0, dot);
    const facts = this.#file.packages[owner]!.messages[fullName.slice(dot + 1)]!;
    const fields: Field[] = [];
    const byNumber = new Map<number, Field>();
    // Stored before it is filled: messages may contain themselves.
    const message = { name: fullName, isList: facts.startsWith('=') && !facts.includes('^'), fields, byNumber };
    this.#messages.set(fullName, message);
    for (const text of facts.split(' ')) {
      if (text === '') continue;
      const field = this.#field(text, owner);
      fields.push(field);
      byNumber.set(field.number, field);
    }
    return message;
  }

  #field(text: string, owner: string): Field {
    const [, name, number, inlined, pointer, written, shape, type] =
      /^([^=]*)=(\d+)(\^?)(\*?)(!?)(\[\]|\{\}|)(.+)$/.exec(text)!;
    return {
      name: name!,
      number: Number(number),
      isInlined: inlined !== '',
      isPointer: pointer !== '',
      isWritten: written !== '',
      shape: shape === '[]' ? 'list' : shape === '{}' ? 'map' : 'one',
      type: this.#type(type!, owner),
    };
  }

  #type(text: string, owner: string): FieldType {
    if (SCALARS.has(text)) return { scalar: text as ScalarType };
    const fullName = text.includes('.') ? text : `${owner}.${text}`;
    const special = SPECIALS.get(fullName);
    return special === undefined ? { message: this.message(fullName) } : { special };
  }
}

let table: MessageTable | undefined;

function messages(): MessageTable {
  table ??= new MessageTable(JSON.parse(readFileSync(DATA, 'utf8')) as MessagesFile);
  return table;
}

/** Returns the message of a kind; undefined for a kind without one, such as custom resources. */
export function kindMessage(apiVersion: string, kind: string): Message | undefined {
  return messages().kind(apiVersion, kind);
}

export function jsonSchemaMessage(): Message {
  return messages().message(JSON_SCHEMA_PROPS);
}
