import { createHash } from 'node:crypto';
import type { DebianPackage } from './debian-base.js';
import type { LockedPackage } from './production-packages.js';
import type { SourceState } from './source-state.js';

/** The Node.js program that is shipped. */
export interface ShippedNode {
  readonly version: string;
  /** Of the program itself, in hexadecimal. */
  readonly sha256: string;
}

export interface SbomContent {
  readonly project: {
    readonly name: string;
    readonly version: string;
    readonly license: string;
    readonly description: string;
  };
  readonly source: SourceState;
  /** Paths in the lock file. */
  readonly direct: readonly string[];
  readonly packages: readonly LockedPackage[];
  /** SPDX expressions of packages whose licence is not in the lock file, by path. */
  readonly licenses: ReadonlyMap<string, string>;
  readonly node: ShippedNode;
  readonly debian?:
    | { readonly release: string; readonly architecture: string; readonly packages: readonly DebianPackage[] }
    | undefined;
}

/**
 * Returns a software bill of materials, CycloneDX 1.5 as JSON: the packages of the lock file that are shipped, Node.js and, in an
 * image, the Debian packages below. The same content gives the same text: the serial number is a hash, the time that of the commit.
 */
export function sbomOf(content: SbomContent): string {
  const { project, source, packages, node, debian } = content;
  const projectRef = npmPurl(project.name, project.version);
  const byPath = new Map(packages.map((each) => [each.path, npmPurl(each.name, each.version)]));
  const refsOf = (paths: readonly string[]) => paths.map((path) => byPath.get(path)!).sort();
  const nodeComponent = nodeOf(node);
  const debianComponents = (debian?.packages ?? []).map((each) => debianOf(each, debian!));
  const body = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: new Date(source.epoch * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': projectRef,
        name: project.name,
        version: project.version,
        description: project.description,
        licenses: [{ expression: project.license }],
        purl: projectRef,
        properties: [{ name: 'straddle:revision', value: source.revision }],
      },
    },
    components: [...packages.map((each) => npmOf(each, content)), nodeComponent, ...debianComponents],
    dependencies: [
      { ref: projectRef, dependsOn: [...refsOf(content.direct), nodeComponent['bom-ref']] },
      ...packages.map((each) => ({ ref: byPath.get(each.path)!, dependsOn: refsOf(each.dependencies) })),
      { ref: nodeComponent['bom-ref'], dependsOn: debianComponents.map((each) => each['bom-ref']) },
      ...debianComponents.map((each) => ({ ref: each['bom-ref'], dependsOn: [] })),
    ],
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`;
  const { bomFormat, specVersion, ...rest } = body;
  return `${JSON.stringify({ bomFormat, specVersion, serialNumber, ...rest }, null, 2)}\n`;
}

function npmOf({ name, version, path, integrity, license }: LockedPackage, { licenses }: SbomContent) {
  const expression = license ?? licenses.get(path);
  if (expression === undefined)
    throw new Error(`${path} names no licence, neither in package-lock.json nor in package.json.`);
  const purl = npmPurl(name, version);
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }],
    licenses: [{ expression }],
    purl,
  };
}

function nodeOf({ version, sha256 }: ShippedNode) {
  return {
    type: 'platform',
    'bom-ref': `pkg:generic/node@${version}`,
    name: 'node',
    version,
    description: 'Node.js, unmodified; the licences of what it contains are in THIRD-PARTY-NOTICES',
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    licenses: [{ expression: 'MIT' }],
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/node@${version}`,
  };
}

function debianOf(
  { name, version, sha256 }: DebianPackage,
  { release, architecture }: { release: string; architecture: string },
) {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${release}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    description: `Debian package; its licence is in /usr/share/doc/${name}/copyright`,
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    purl,
  };
}

/** https://github.com/package-url/purl-spec: the @ of a scope is encoded, its slash is not. */
function npmPurl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;
}

/** A UUID made from a hash, as RFC 9562 (5.8) allows. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
