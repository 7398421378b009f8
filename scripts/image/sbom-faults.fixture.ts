/** The rules of the JSON schema of CycloneDX 1.5 for the fields that Straddle's bill of materials has, and for those that it must have. */

interface Component {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly version?: unknown;
  readonly purl?: unknown;
  readonly 'bom-ref'?: unknown;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly unknown[];
}

export interface Bill {
  readonly bomFormat?: unknown;
  readonly specVersion?: unknown;
  readonly serialNumber?: unknown;
  readonly version?: unknown;
  readonly metadata?: { readonly timestamp?: unknown; readonly component?: Component };
  readonly components?: readonly Component[];
  readonly dependencies?: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

const TYPES = [
  'application',
  'framework',
  'library',
  'container',
  'platform',
  'operating-system',
  'device',
  'device-driver',
  'firmware',
  'file',
  'machine-learning-model',
  'data',
];
const HASH_LENGTHS: Readonly<Record<string, number>> = { 'SHA-256': 64, 'SHA-512': 128 };
const SERIAL = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** https://github.com/package-url/purl-spec */
const PURL = /^pkg:[a-z]+\/([\w.%-]+\/)*[\w.%+-]+@[\w.%+~-]+(\?[a-z]+=[\w.-]+(&[a-z]+=[\w.-]+)*)?$/;

export function sbomFaults(bill: Bill): string[] {
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string) => void (holds || faults.push(fault));
  expect(bill.bomFormat === 'CycloneDX', 'bomFormat');
  expect(bill.specVersion === '1.5', 'specVersion');
  expect(typeof bill.serialNumber === 'string' && SERIAL.test(bill.serialNumber), 'serialNumber');
  expect(Number.isInteger(bill.version) && (bill.version as number) >= 1, 'version');
  const { timestamp, component } = bill.metadata ?? {};
  expect(typeof timestamp === 'string' && new Date(timestamp).toISOString() === timestamp, 'metadata.timestamp');
  const all = [...(component ? [component] : []), ...(bill.components ?? [])];
  expect(all.length > 1, 'components');
  for (const each of all) faults.push(...componentFaults(each));
  const refs = all.map((each) => each['bom-ref'] as string);
  expect(new Set(refs).size === refs.length, 'a bom-ref is there twice');
  const dependencies = bill.dependencies ?? [];
  for (const { ref, dependsOn = [] } of dependencies) {
    expect(refs.includes(ref), `dependencies: ${ref}`);
    expect(new Set(dependsOn).size === dependsOn.length, `dependencies: ${ref} names one twice`);
    for (const other of dependsOn) expect(refs.includes(other), `dependencies: ${ref} on ${other}`);
  }
  expect(new Set(dependencies.map(({ ref }) => ref)).size === refs.length, 'dependencies: not of each component');
  return faults;
}

function componentFaults(component: Component): string[] {
  const { type, name, version, purl, hashes = [], licenses = [] } = component;
  const at = String(component['bom-ref']);
  const faults: string[] = [];
  if (!TYPES.includes(type as string)) faults.push(`${at}: type`);
  for (const [field, value] of Object.entries({ name, version })) {
    if (typeof value !== 'string' || value === '') faults.push(`${at}: ${field}`);
  }
  if (typeof purl !== 'string' || !PURL.test(purl)) faults.push(`${at}: purl ${purl}`);
  for (const { alg, content } of hashes) {
    if (!/^[0-9a-f]+$/.test(content) || content.length !== HASH_LENGTHS[alg]) faults.push(`${at}: hash ${alg}`);
  }
  // Either one expression, or a list of licences.
  const isExpression = (each: unknown) => typeof (each as { expression?: unknown }).expression === 'string';
  if (licenses.length > 1 || !licenses.every(isExpression)) faults.push(`${at}: licenses`);
  return faults;
}
