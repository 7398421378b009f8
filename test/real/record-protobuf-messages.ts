/**
 * The messages of Kubernetes' protobuf, as facts: numbers and types from the `generated.proto` files, and from the tags of
 * the Go types how the same fields are written as JSON (names, what is inlined, what is a pointer, what is left out).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSurface } from '../../src/apiserver/surfaces/load-surface.js';
import { shippedVersions } from '../../src/apiserver/surfaces/shipped-versions.js';
import { MODULES_DIR, moduleOf, pinnedVersions } from './rig/pinned-versions.js';

const MODULES = ['k8s.io/api', 'k8s.io/apimachinery', 'k8s.io/apiextensions-apiserver', 'k8s.io/kube-aggregator'];
const META = 'apimachinery.pkg.apis.meta.v1';
/** Written as JSON in a way of their own, which is code. */
const SPECIAL = new Set([
  `${META}.Time`,
  `${META}.MicroTime`,
  `${META}.FieldsV1`,
  'apimachinery.pkg.api.resource.Quantity',
  'apimachinery.pkg.util.intstr.IntOrString',
  'apimachinery.pkg.runtime.RawExtension',
  'apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON',
  'apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray',
  'apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool',
  'apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray',
]);

export interface PackageFacts {
  readonly apiVersion: string;
  readonly kinds: string;
  readonly messages: Record<string, string>;
}

interface ProtoField {
  readonly name: string;
  readonly number: number;
  readonly shape: '' | '[]' | '{}';
  /** A scalar, or a message: its name alone where it is of the same package. */
  readonly type: string;
}

interface GoField {
  readonly type: string;
  /** Undefined where the field is inlined. */
  readonly jsonName: string | undefined;
  readonly isLeftOutWhenEmpty: boolean;
  readonly isLeftOutWhenZero: boolean;
}

interface Source {
  readonly name: string;
  readonly apiVersion: string;
  readonly messages: ReadonlyMap<string, readonly ProtoField[]>;
  readonly structs: ReadonlyMap<string, ReadonlyMap<number, GoField>>;
  readonly kinds: readonly string[];
  /** Lists that are messages, and names for types of elsewhere. */
  readonly others: ReadonlyMap<string, string>;
}

export interface RecordedMessages {
  readonly from: readonly string[];
  readonly packages: Record<string, PackageFacts>;
  /** Fields that could not be mapped, each with its reason. */
  readonly problems: readonly string[];
}

export async function recordMessages(): Promise<RecordedMessages> {
  const served = new Set(['meta.k8s.io/v1', 'meta.k8s.io/v1beta1']);
  for (const version of shippedVersions()) {
    for (const { name, versions } of (await loadSurface(version)).groups)
      for (const each of versions) served.add(name === '' ? each.version : `${name}/${each.version}`);
  }
  const problems: string[] = [];
  const from: string[] = [];
  const packages: Record<string, PackageFacts> = {};
  // Newest first: an older version adds what newer ones no longer have.
  for (const minor of [...pinnedVersions().keys()].reverse()) {
    const sources = new Map<string, Source>();
    for (const { dir, version } of moduleFolders(minor)) {
      if (!from.includes(version)) from.push(version);
      for (const source of sourcesIn(dir)) sources.set(source.name, source);
    }
    for (const source of sources.values()) {
      if (!served.has(source.apiVersion)) continue;
      const facts = packageFacts(source, sources, problems);
      const newer = packages[source.name];
      packages[source.name] = newer === undefined ? facts : withOlder(newer, facts);
    }
  }
  const { used, missing } = usedMessages(packages);
  for (const [name, { messages }] of Object.entries(packages))
    for (const message of Object.keys(messages)) if (!used.has(`${name}.${message}`)) delete messages[message];
  const sorted = Object.fromEntries(Object.entries(packages).sort(([left], [right]) => (left < right ? -1 : 1)));
  const unmapped = problems.filter((problem) => used.has(problem.slice(0, problem.indexOf(':'))));
  return { from, packages: sorted, problems: [...unmapped, ...missing, ...(await differences(sorted))] };
}

/** A package as the newer version has it, with the messages and fields that only the older one has. */
function withOlder(newer: PackageFacts, older: PackageFacts): PackageFacts {
  const messages: Record<string, string> = { ...newer.messages };
  for (const [name, fields] of Object.entries(older.messages)) {
    const known = messages[name];
    messages[name] = known === undefined ? fields : withOlderFields(known, fields);
  }
  const kinds = new Set([...newer.kinds.split(' '), ...older.kinds.split(' ')].filter((kind) => kind !== ''));
  return { apiVersion: newer.apiVersion, kinds: [...kinds].sort().join(' '), messages };
}

/** A field that not all versions have is optional, like a pointer: versions that always write it have it in every object. */
function withOlderFields(newer: string, older: string): string {
  const [newerFields, olderFields] = [newer, older].map((text) => text.split(' ').filter((field) => field !== ''));
  const names = new Set(newerFields!.map(nameOf));
  const numbers = new Set(newerFields!.map(numberOf));
  const olderNumbers = new Set(olderFields!.map(numberOf));
  const fields = newerFields!.map((field) => (olderNumbers.has(numberOf(field)) ? field : optional(field)));
  const gone = olderFields!.filter((field) => !numbers.has(numberOf(field)) && !names.has(nameOf(field)));
  return [...fields, ...gone.map(optional)].join(' ');
}

function optional(field: string): string {
  return field.replace(/\*?!/, '*');
}

function nameOf(field: string): string {
  return field.slice(0, field.indexOf('='));
}

function numberOf(field: string): string {
  return /=(\d+)/.exec(field)![1]!;
}

function moduleFolders(minor: string): { dir: string; version: string }[] {
  const cwd = join(MODULES_DIR, moduleOf(minor));
  const printed = execFileSync('go', ['list', '-m', '-f', '{{.Version}} {{.Dir}}', ...MODULES], {
    cwd,
    encoding: 'utf8',
  });
  return printed
    .trim()
    .split('\n')
    .map((line) => ({ version: line.slice(0, line.indexOf(' ')), dir: line.slice(line.indexOf(' ') + 1) }));
}

function sourcesIn(dir: string): Source[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('generated.proto') && existsSync(join(dir, path, '../register.go')))
    .map((path) => readSource(join(dir, path, '..')));
}

function readSource(folder: string): Source {
  const proto = readFileSync(join(folder, 'generated.proto'), 'utf8');
  const name = /^package k8s\.io\.(.+);$/m.exec(proto)![1]!;
  const group = /GroupName\s*=\s*"(.*)"/.exec(readFileSync(join(folder, 'register.go'), 'utf8'))?.[1] ?? '';
  const version = name.split('.').at(-1)!;
  const go = readdirSync(folder)
    .filter((file) => file.endsWith('.go') && !/^zz_generated|^generated|_test\.go$/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  return {
    name,
    apiVersion: group === '' ? version : `${group}/${version}`,
    messages: protoMessages(proto),
    ...goTypes(go),
  };
}

function protoMessages(text: string): Map<string, ProtoField[]> {
  const messages = new Map<string, ProtoField[]>();
  let fields: ProtoField[] = [];
  for (const line of text.split('\n')) {
    const opening = /^message (\w+) \{/.exec(line);
    if (opening) {
      fields = [];
      messages.set(opening[1]!, fields);
    }
    const field = /^ {2}(?:(optional|repeated) ([\w.]+)|map<string, ([\w.]+)>) (\w+) = (\d+);/.exec(line);
    if (!field) continue;
    const [, label, type, values, name, number] = field;
    const shape = values !== undefined ? '{}' : label === 'repeated' ? '[]' : '';
    fields.push({ name: name!, number: Number(number), shape, type: (values ?? type!).replace(/^\.k8s\.io\./, '') });
  }
  return messages;
}

function goTypes(text: string): Pick<Source, 'structs' | 'kinds' | 'others'> {
  const structs = new Map<string, Map<number, GoField>>();
  const kinds: string[] = [];
  const others = new Map<string, string>();
  for (const [, name, type] of text.matchAll(/^type (\w+) =? ?((?:\[\])?[\w.]+)$/gm)) others.set(name!, type!);
  for (const [, name, body] of text.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
    if (/^\s+(metav1\.)?TypeMeta\s+`json:"(,inline)?"/m.test(body!)) kinds.push(name!);
    structs.set(name!, goFields(body!));
  }
  return { structs, kinds, others };
}

function goFields(body: string): Map<number, GoField> {
  const fields = new Map<number, GoField>();
  for (const [, name, type, tags] of body.matchAll(/^\s+(\w+\s+)?([*[\]\w.]+)\s+`([^`]*)`/gm)) {
    const number = /protobuf:"\w+,(\d+)/.exec(tags!)?.[1];
    if (number === undefined) continue;
    const [jsonName = '', ...options] = (/json:"([^"]*)"/.exec(tags!)?.[1] ?? '').split(',');
    fields.set(Number(number), {
      type: type!,
      // Since 1.37 the tag of an embedded struct is empty, and it is inlined all the same.
      jsonName: options.includes('inline') || (name === undefined && jsonName === '') ? undefined : jsonName,
      isLeftOutWhenEmpty: options.includes('omitempty'),
      isLeftOutWhenZero: options.includes('omitzero'),
    });
  }
  return fields;
}

function packageFacts(source: Source, sources: ReadonlyMap<string, Source>, problems: string[]): PackageFacts {
  const messages: Record<string, string> = {};
  for (const [name, fields] of source.messages) {
    if (SPECIAL.has(`${source.name}.${name}`)) continue;
    const other = source.others.get(name);
    const only = fields[0];
    if (other?.startsWith('[]') && only?.shape === '[]' && fields.length === 1) {
      messages[name] = `=${only.number}[]${only.type}`;
      continue;
    }
    const struct = source.structs.get(name) ?? structElsewhere(other ?? '', source, sources);
    const written: string[] = [];
    for (const field of fields) {
      const go = struct?.get(field.number);
      if (go === undefined || go.jsonName === '' || go.jsonName === '-')
        problems.push(`${source.name}.${name}: no Go field has the number of ${field.name}`);
      else written.push(fieldFacts(field, go, source));
    }
    messages[name] = written.join(' ');
  }
  const kinds = source.kinds.filter((kind) => messages[kind] !== undefined).sort();
  return { apiVersion: source.apiVersion, kinds: kinds.join(' '), messages };
}

/** A type under another name: of meta, or of another version of the same group. */
function structElsewhere(
  type: string,
  source: Source,
  sources: ReadonlyMap<string, Source>,
): ReadonlyMap<number, GoField> | undefined {
  const [version = '', name = ''] = type.split('.');
  const owner = version === 'metav1' ? META : source.name.replace(/\w+$/, version);
  return sources.get(owner)?.structs.get(name);
}

/** `name=number`, then `^` inlined, `*` a pointer, `!` written even when empty, then the type. */
function fieldFacts({ number, shape, type }: ProtoField, go: GoField, source: Source): string {
  if (go.jsonName === undefined) return `=${number}^${type}`;
  const isPointer = go.type.startsWith('*');
  const isStruct = shape === '' && !isPointer && /[A-Z]/.test(type) && !source.others.get(type)?.startsWith('[]');
  // Structs are never empty to Go's `omitempty`.
  const isWritten = isStruct ? !go.isLeftOutWhenZero : !go.isLeftOutWhenEmpty;
  return `${go.jsonName}=${number}${isPointer ? '*' : ''}${isWritten ? '!' : ''}${shape}${type}`;
}

/** What the kinds are made of, and what of it there is no message for. */
function usedMessages(packages: Readonly<Record<string, PackageFacts>>): { used: Set<string>; missing: string[] } {
  const used = new Set<string>();
  const missing: string[] = [];
  const waiting = Object.entries(packages).flatMap(([name, { kinds }]) =>
    kinds
      .split(' ')
      .filter(Boolean)
      .map((kind) => `${name}.${kind}`),
  );
  for (let full = waiting.pop(); full !== undefined; full = waiting.pop()) {
    if (used.has(full) || SPECIAL.has(full)) continue;
    used.add(full);
    const dot = full.lastIndexOf('.');
    const fields = packages[full.slice(0, dot)]?.messages[full.slice(dot + 1)];
    if (fields === undefined) missing.push(`${full}: not recorded`);
    for (const field of (fields ?? '').split(' ')) {
      const type = /[\w.]*$/.exec(field.replace(/^[^=]*=\d+/, ''))![0];
      if (/[A-Z]/.test(type)) waiting.push(type.includes('.') ? type : `${full.slice(0, dot)}.${type}`);
    }
  }
  // Code knows these from within the special types.
  used.add('apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
  return { used, missing };
}

/** Fields whose JSON names are not those that OpenAPI has for the same type. */
async function differences(packages: Readonly<Record<string, PackageFacts>>): Promise<string[]> {
  const surfaces = await Promise.all(shippedVersions().map(loadSurface));
  const problems: string[] = [];
  const namesOf = (owner: string, message: string): string[] =>
    packages[owner]!.messages[message]!.split(' ').flatMap((field) => {
      const inlined = /^=\d+\^([\w.]+)$/.exec(field)?.[1];
      if (inlined === undefined) return field === '' ? [] : [field.slice(0, field.indexOf('='))];
      const dot = inlined.lastIndexOf('.');
      return dot < 0 ? namesOf(owner, inlined) : namesOf(inlined.slice(0, dot), inlined.slice(dot + 1));
    });
  for (const [owner, { messages }] of Object.entries(packages)) {
    for (const message of Object.keys(messages)) {
      const typeName = `io.k8s.${owner.replaceAll('_', '-')}.${message}`;
      const found = surfaces.flatMap((surface) => surface.type(typeName)?.properties ?? []);
      if (found.length === 0) continue;
      const properties = Object.assign({}, ...found) as object;
      const names = new Set(namesOf(owner, message));
      for (const name of names)
        if (!Object.hasOwn(properties, name)) problems.push(`${owner}.${message}.${name}: unknown to OpenAPI`);
      for (const name of Object.keys(properties))
        if (!names.has(name) && name !== 'kind' && name !== 'apiVersion')
          problems.push(`${owner}.${message}.${name}: in no message`);
    }
  }
  return problems;
}
