import type { JsonObject } from '../../kube/json.js';
import { type AggregatedDocuments, convertDiscovery } from './convert-discovery.js';
import { convertOpenApi } from './convert-openapi.js';
import { SURFACE_FORMAT, type SurfaceFile, type SurfaceGroup } from './surface-file.js';

/** The documents of a running server from which a surface is made. */
export interface ServerDocuments {
  /** `gitVersion` of `/version`. */
  readonly gitVersion: string;
  /** `emulationMajor.emulationMinor` or `major.minor` of `/version`. */
  readonly version: string;
  readonly discovery: AggregatedDocuments;
  /** All documents that `/openapi/v3` lists. */
  readonly openApi: readonly JsonObject[];
}

/** A pure conversion: the same documents make the same file. */
export function convertSurface(
  everything: ServerDocuments,
  byDefault?: Pick<ServerDocuments, 'discovery'>,
): SurfaceFile {
  return {
    format: SURFACE_FORMAT,
    capturedFrom: everything.gitVersion,
    version: everything.version,
    groups: convertDiscovery(everything.discovery, byDefault?.discovery),
    types: convertOpenApi(everything.openApi),
  };
}

/** One resource and one type a line: small, and a difference between two versions reads as one. */
export function writeSurface(file: SurfaceFile): string {
  const groups = file.groups.map(writeGroup).join(',\n');
  const types = Object.entries(file.types).map(([name, node]) => `${JSON.stringify(name)}:${JSON.stringify(node)}`);
  const { format, capturedFrom, version } = file;
  const head = JSON.stringify({ format, capturedFrom, version }).slice(1, -1);
  return `{${head},\n"groups":[\n${groups}\n],\n"types":{\n${types.join(',\n')}\n}}\n`;
}

function writeGroup({ name, versions }: SurfaceGroup): string {
  const written = versions.map(({ resources, ...rest }) => {
    const head = JSON.stringify(rest).slice(1, -1);
    return `{${head},"resources":[\n${resources.map((each) => JSON.stringify(each)).join(',\n')}\n]}`;
  });
  return `{"name":${JSON.stringify(name)},"versions":[${written.join(',\n')}]}`;
}
