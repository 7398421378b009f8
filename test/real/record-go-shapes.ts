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

const FACTS = fileURLToPath(new URL('../../src/apiserver/builtin/go-shape-facts.ts', import.meta.url));
const FORMS = fileURLToPath(new URL('../../src/apiserver/builtin/internal-forms.ts', import.meta.url));
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
writeFileSync(
  FORMS,
  `/**
 * Fields of kube-apiserver's own types in their order, recorded by test/real/record-go-shapes.ts. A type a line, then
 * \`Field:kind\`: s (text) n (number) b (boolean) q (quantity) x (null when not set), p, l and o with the name of a type
 * (a pointer to one, a list of them, one itself); \`...\` what is written in between as it is.
 */
export const INTERNAL_FORMS = \`
${run('internal-forms').trim()}
\`;
`,
);
rmSync(dir, { recursive: true, force: true });
const types = JSON.parse(printed) as Record<string, TypeFacts>;
const known = new Set(SURFACES.flatMap((text) => Object.keys((JSON.parse(text) as { types: object }).types)));

/** What is written for a field that is not set. */
function zeroOf(kind: string, type: string): string {
  if (kind === 'string') return 's';
  if (kind === 'bool') return 'b';
  if (kind.startsWith('int') || kind.startsWith('float')) return 'n';
  if (type === 'resource.Quantity') return 'q';
  if (type === 'intstr.IntOrString') return 'n';
  const isNull = kind !== 'struct' || ['v1.Time', 'v1.MicroTime', 'runtime.RawExtension'].includes(type);
  return isNull ? 'x' : 'o';
}

const lines = Object.keys(types)
  .filter((name) => known.has(name))
  .sort()
  .map((name) => {
    const { pointers = [], always = [] } = types[name]!;
    const written = always.map((each) => {
      const [field, kind, type] = each.split(':');
      return `${field}:${zeroOf(kind!, type!)}`;
    });
    return `${name} ${[...pointers, ...written].join(' ')}`;
  });
writeFileSync(
  FACTS,
  `/**
 * How Go writes types of the API, recorded by test/real/record-go-shapes.ts. A type a line, then its fields: by name alone
 * those that are pointers, so that an empty value is not the same as none; with \`:kind\` those that are always written,
 * empty as s ("") n (0) b (false) o (an object) q (a quantity) x (null).
 */
export const GO_SHAPE_FACTS = \`
${lines.join('\n')}
\`;
`,
);
