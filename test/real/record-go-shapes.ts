/**
 * Records how Go writes the types of the API (what it leaves out when empty, what it always writes), which OpenAPI does
 * not tell: `tsx test/real/record-go-shapes.ts`.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSurface } from '../../src/apiserver/surfaces/load-surface.js';
import { shippedVersions } from '../../src/apiserver/surfaces/shipped-versions.js';
import { MODULES_DIR, moduleOf } from './rig/pinned-versions.js';

interface TypeFacts {
  readonly pointers?: readonly string[];
  /** `name:kind:type`. */
  readonly always?: readonly string[];
}

const FACTS = fileURLToPath(new URL('../../src/apiserver/builtin/data/go-shapes.json', import.meta.url));
const FORMS = fileURLToPath(new URL('../../src/apiserver/builtin/data/internal-forms.json', import.meta.url));
/** Messages of kube-apiserver that print internal types are recorded from this version. */
const FORMS_VERSION = '1.36';
const GO_OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** What Go does with a field: keeps an empty value (a pointer), or always writes it (`name:kind:type`). */
interface FieldFacts {
  readonly isPointer: boolean;
  readonly always: string | undefined;
}

writeFileSync(FORMS, oneTypePerLine(run('internal-forms', FORMS_VERSION).trim().split('\n').map(internalForm)));

const types = new Map<string, Map<string, FieldFacts>>();
// Newest first: an older version adds types and fields that newer ones no longer have.
for (const version of [...shippedVersions()].reverse()) {
  const recorded = JSON.parse(run('go-shapes', version)) as Record<string, TypeFacts>;
  for (const [name, node] of Object.entries((await loadSurface(version)).types)) {
    if (typeof node === 'string' || node.fields === undefined || !Object.hasOwn(recorded, name)) continue;
    const { pointers = [], always = [] } = recorded[name]!;
    const fields = types.get(name) ?? new Map<string, FieldFacts>();
    types.set(name, fields);
    for (const field of Object.keys(node.fields)) {
      const facts = {
        isPointer: pointers.includes(field),
        always: always.find((each) => each.startsWith(`${field}:`)),
      };
      const newer = fields.get(field);
      if (newer === undefined) fields.set(field, facts);
      else if (newer.isPointer !== facts.isPointer || zeroText(newer) !== zeroText(facts))
        process.stdout.write(`${name}.${field} has another form in Go in ${version} than in newer versions\n`);
    }
  }
}

const shapes = [...types]
  .sort(([left], [right]) => (left < right ? -1 : 1))
  .map(([name, fields]): [string, unknown] => {
    const sorted = [...fields].sort(([left], [right]) => (left < right ? -1 : 1));
    const pointers = sorted.filter(([, { isPointer }]) => isPointer).map(([field]) => field);
    const written = sorted.flatMap(([field, { always }]) => (always === undefined ? [] : [[field, zeroValue(always)]]));
    return [name, { pointers, written: Object.fromEntries(written) }];
  });
writeFileSync(FACTS, oneTypePerLine(shapes));

/** Runs a program of modules/recorders with the packages of a version. It needs more requirements than the servers do: a copy of go.mod takes them up. */
function run(program: string, version: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
  try {
    for (const name of ['go.mod', 'go.sum']) copyFileSync(join(MODULES_DIR, moduleOf(version), name), join(dir, name));
    cpSync(join(MODULES_DIR, 'recorders', program), join(dir, program), { recursive: true });
    return execFileSync('go', ['run', '-trimpath', '-mod=mod', `./${program}`], {
      cwd: dir,
      env: { ...process.env, GOWORK: 'off', CGO_ENABLED: '0' },
      encoding: 'utf8',
      maxBuffer: GO_OUTPUT_BYTES_MAX,
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function zeroValue(always: string): unknown {
  const [, kind, type] = always.split(':');
  return zeroOf(kind!, type!);
}

function zeroText({ always }: FieldFacts): string | undefined {
  return always === undefined ? undefined : JSON.stringify(zeroValue(always));
}

/** The value that is written for a field that is not set. */
function zeroOf(kind: string, type: string): unknown {
  if (kind === 'string') return '';
  if (kind === 'bool') return false;
  if (kind.startsWith('int') || kind.startsWith('float')) return 0;
  if (type === 'resource.Quantity') return '0';
  if (type === 'intstr.IntOrString') return 0;
  const isNull = kind !== 'struct' || ['v1.Time', 'v1.MicroTime', 'runtime.RawExtension'].includes(type);
  return isNull ? null : {};
}

/**
 * A line of the program: the name of a type and its fields, `...Name` (embedded metadata) or `Name:kind`. Kinds are s
 * (text), n (number), b (boolean), q (quantity), x (null when not set), and p, l and o with the name of a type (a pointer,
 * a list, a struct).
 */
function internalForm(line: string): [string, unknown] {
  const [name = '', ...fields] = line.trim().split(' ');
  const entries = fields.map((text): [string, unknown] => {
    if (text.startsWith('...')) return [text.slice(3), { inlined: true }];
    const [field = '', kind = ''] = text.split(':');
    return [field, internalField(kind.charAt(0), kind.slice(1))];
  });
  return [name, Object.fromEntries(entries)];
}

function internalField(kind: string, typeName: string): unknown {
  switch (kind) {
    case 'p':
      return { pointer: typeName };
    case 'l':
      return { list: typeName };
    case 'o':
      return { struct: typeName };
    case 's':
      return '';
    case 'n':
      return 0;
    case 'b':
      return false;
    case 'q':
      return '0';
    case 'x':
      return null;
    default:
      throw new Error(`unknown kind of field ${JSON.stringify(kind)}`);
  }
}

function oneTypePerLine(entries: readonly (readonly [string, unknown])[]): string {
  return `{\n${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',\n')}\n}\n`;
}
