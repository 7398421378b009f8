import type { Schema, SchemaType } from '../schema/schema.js';
import { ANY } from '../schema/schema.js';
import { parseSurface, type SurfaceOrigin } from './parse-surface.js';
import type { SurfaceFile, SurfaceGroup, SurfaceResource, TypeNode, TypeObject } from './surface-file.js';

/** The built-in types of one Kubernetes version. Immutable; schemas are created on first use. */
export interface BuiltInSurface {
  readonly version: string;
  /** 36 for 1.36. */
  readonly minor: number;
  readonly capturedFrom: string;
  readonly groups: readonly SurfaceGroup[];
  /** The types as they were captured, by their names in OpenAPI. */
  readonly types: Readonly<Record<string, TypeNode>>;
  resource(group: string, version: string, resource: string): SurfaceResource | undefined;
  /** The schema of a kind, and its name in OpenAPI. */
  kind(
    group: string,
    version: string,
    kind: string,
  ): { readonly typeName: string; readonly schema: Schema } | undefined;
  /** A type by its name in OpenAPI. */
  type(typeName: string): Schema | undefined;
}

const UNNAMED: SurfaceOrigin = { file: 'the surface', remedy: 'capture it again with `straddle surface capture`' };

/** Throws SurfaceFormatError. */
export function readSurface(text: string, origin = UNNAMED): BuiltInSurface {
  return new IndexedSurface(parseSurface(text, origin));
}

class IndexedSurface implements BuiltInSurface {
  readonly #resources = new Map<string, SurfaceResource>();
  readonly #typeNames = new Map<string, string>();
  readonly #schemas = new Map<string, Schema>();

  readonly #file: SurfaceFile;

  constructor(file: SurfaceFile) {
    this.#file = file;
    for (const group of file.groups) {
      for (const { version, resources } of group.versions) {
        for (const each of resources) this.#resources.set(`${group.name}/${version}/${each.name}`, each);
      }
    }
    for (const [name, node] of Object.entries(file.types)) {
      if (typeof node === 'string') continue;
      for (const kind of node.kinds ?? []) this.#typeNames.set(kind, name);
    }
  }

  get version(): string {
    return this.#file.version;
  }

  get minor(): number {
    return Number(this.#file.version.split('.')[1]);
  }

  get capturedFrom(): string {
    return this.#file.capturedFrom;
  }

  get groups(): readonly SurfaceGroup[] {
    return this.#file.groups;
  }

  get types(): Readonly<Record<string, TypeNode>> {
    return this.#file.types;
  }

  resource(group: string, version: string, resource: string): SurfaceResource | undefined {
    return this.#resources.get(`${group}/${version}/${resource}`);
  }

  kind(group: string, version: string, kind: string): { typeName: string; schema: Schema } | undefined {
    const typeName = this.#typeNames.get(`${group}/${version}/${kind}`);
    const schema = typeName === undefined ? undefined : this.type(typeName);
    return schema === undefined ? undefined : { typeName: typeName!, schema };
  }

  type(typeName: string): Schema | undefined {
    const known = this.#schemas.get(typeName);
    if (known !== undefined) return known;
    if (!Object.hasOwn(this.#file.types, typeName)) return undefined;
    // Entered before it is filled: types refer to themselves.
    const schema: Schema = {};
    this.#schemas.set(typeName, schema);
    const made = this.#schemaOf(this.#file.types[typeName]!);
    // An alias of another type inherits from it, whether or not that one is filled yet.
    if (Object.getPrototypeOf(made) === Object.prototype) Object.assign(schema, made);
    else Object.setPrototypeOf(schema, made);
    Object.assign(schema, { typeName });
    return schema;
  }

  #schemaOf(node: TypeNode): Schema {
    return typeof node === 'string' ? this.#schemaOfText(node) : this.#schemaOfObject(node);
  }

  #schemaOfText(text: string): Schema {
    if (text.startsWith('#')) return Object.create(this.type(text.slice(1)) ?? ANY) as Schema;
    if (text.startsWith('[]')) return { type: 'array', items: this.#schemaOfText(text.slice(2)) };
    if (text.startsWith('{}')) return { type: 'object', values: this.#schemaOfText(text.slice(2)) };
    const [type, format] = text.split('/', 2);
    return {
      ...(type === 'any' ? {} : { type: type as SchemaType }),
      ...(format === undefined ? {} : { format }),
    };
  }

  #schemaOfObject(node: TypeObject): Schema {
    const { is, fields, items, values, kinds: _, ...rest } = node;
    const schema = (is === undefined ? { type: 'object' } : this.#schemaOfText(is)) as {
      -readonly [K in keyof Schema]: Schema[K];
    };
    if (fields !== undefined) {
      schema.properties = Object.fromEntries(
        Object.entries(fields).map(([name, each]) => [name, this.#schemaOf(each)]),
      );
    }
    if (items !== undefined) schema.items = this.#schemaOf(items);
    if (values !== undefined) schema.values = this.#schemaOf(values);
    return Object.assign(schema, rest);
  }
}
