/**
 * Records how Go writes the types of the API (what it leaves out when empty, what it always writes), which OpenAPI does
 * not tell: `tsx test/real/record-go-shapes.ts`.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface TypeFacts {
  readonly pointers?: readonly string[];
  /** `name:kind:type`. */
  readonly always?: readonly string[];
}

const FACTS = fileURLToPath(new URL('../../src/apiserver/builtin/data/go-shapes.json', import.meta.url));
const FORMS = fileURLToPath(new URL('../../src/apiserver/builtin/data/internal-forms.json', import.meta.url));
const SURFACES = ['1.34', '1.35', '1.36'].map((version) =>
  readFileSync(new URL(`../../src/apiserver/surfaces/data/${version}.json`, import.meta.url), 'utf8'),
);

const MODULE = fileURLToPath(new URL('modules/kube-1.36', import.meta.url));

// The program needs more of the module's requirements than the binaries do; a copy of go.mod takes them up.
const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
for (const name of ['go.mod', 'go.sum']) copyFileSync(join(MODULE, name), join(dir, name));
const run = (program: string): string =>
  execFileSync('go', ['run', `-modfile=${join(dir, 'go.mod')}`, '-mod=mod', `./${program}`], {
    cwd: MODULE,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
const printed = run('go-shapes');
const forms = run('internal-forms').trim().split('\n').map(internalForm);
rmSync(dir, { recursive: true, force: true });
writeFileSync(FORMS, oneTypePerLine(forms));
const types = JSON.parse(printed) as Record<string, TypeFacts>;
const known = new Set(SURFACES.flatMap((text) => Object.keys((JSON.parse(text) as { types: object }).types)));

const shapes = Object.keys(types)
  .filter((name) => known.has(name))
  .sort()
  .map((name): [string, unknown] => {
    const { pointers = [], always = [] } = types[name]!;
    const written = always.map((each) => {
      const [field, kind, type] = each.split(':');
      return [field!, zeroOf(kind!, type!)];
    });
    return [name, { pointers, written: Object.fromEntries(written) }];
  });
writeFileSync(FACTS, oneTypePerLine(shapes));

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
