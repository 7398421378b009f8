import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LockFile } from '../lock-integrity.js';
import { debianBase } from './debian-base.js';
import { directDependencies, productionPackages } from './production-packages.js';
import { type SbomContent, sbomOf } from './sbom.js';
import { sbomFaults } from './sbom-faults.fixture.js';

const lock = JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')) as LockFile;
const PLATFORM = { os: 'linux', cpu: 'x64', libc: 'glibc' };
const packages = productionPackages(lock, PLATFORM);

const content: SbomContent = {
  project: { name: 'straddle', version: '0.1.0', license: 'Apache-2.0', description: 'a proxy' },
  source: { revision: 'abc', epoch: 1_800_000_000 },
  packages,
  direct: directDependencies(lock, PLATFORM),
  licenses: new Map(),
  node: { version: '24.21.0', sha256: 'a'.repeat(64) },
};

const billOf = (more: Partial<SbomContent> = {}) => JSON.parse(sbomOf({ ...content, ...more }));

describe('the bill of materials', () => {
  it('has what CycloneDX 1.5 requires, with and without Debian packages', () => {
    expect(sbomFaults(billOf())).toEqual([]);
    expect(sbomFaults(billOf({ debian: debianBase('x64') }))).toEqual([]);
  });

  it('lists each package of the lock file that is shipped, with its hash, and Node.js', () => {
    const { components } = billOf();
    const names = components.map(({ name, version }: { name: string; version: string }) => `${name}@${version}`);
    expect(names).toEqual([...packages.map(({ name, version }) => `${name}@${version}`), 'node@24.21.0']);
    const lmdb = components.find(({ name }: { name: string }) => name === 'lmdb');
    const { integrity } = packages.find(({ name }) => name === 'lmdb')!;
    expect(Buffer.from(lmdb.hashes[0].content, 'hex').toString('base64')).toBe(integrity.slice('sha512-'.length));
    expect(components[0].purl).toMatch(/^pkg:npm\/%40harperfast\/extended-iterable@\d/);
  });

  it('depends on the content only: no clock, and another serial number for another content', () => {
    expect(sbomOf(content)).toBe(sbomOf(content));
    expect(billOf().metadata.timestamp).toBe('2027-01-15T08:00:00.000Z');
    const other = billOf({ source: { revision: 'def', epoch: 1_800_000_000 } });
    expect(other.serialNumber).not.toBe(billOf().serialNumber);
  });

  it('takes a licence that the lock file lacks from the package, and is refused without one', () => {
    const [first, ...others] = packages;
    const unnamed = [{ ...first!, license: undefined }, ...others];
    expect(() => billOf({ packages: unnamed })).toThrow(`${first!.path} names no licence`);
    const licenses = new Map([[first!.path, 'ISC']]);
    expect(billOf({ packages: unnamed, licenses }).components[0].licenses).toEqual([{ expression: 'ISC' }]);
  });

  it.each<[string, (bill: ReturnType<typeof billOf>) => void]>([
    ['a component without a name', (bill) => delete bill.components[0].name],
    ['an unknown kind of component', (bill) => (bill.components[0].type = 'package')],
    ['a hash of a wrong length', (bill) => (bill.components[0].hashes[0].content = 'abc')],
    ['a reference twice', (bill) => (bill.components[1]['bom-ref'] = bill.components[0]['bom-ref'])],
    ['a dependency on nothing', (bill) => bill.dependencies[0].dependsOn.push('pkg:npm/none@1')],
    ['no serial number', (bill) => (bill.serialNumber = 'urn:uuid:1')],
    ['another format', (bill) => (bill.specVersion = '1')],
  ])('would be found faulty with %s', (_, spoil) => {
    const bill = billOf();
    spoil(bill);
    expect(sbomFaults(bill)).not.toEqual([]);
  });
});
