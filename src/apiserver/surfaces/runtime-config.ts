/** `--runtime-config`: versions and resources that are served or not, contrary to the defaults. */
export type RuntimeConfig = ReadonlyMap<string, boolean>;

/** Parses `batch/v1=false,api/all=true`; a key alone means true. Throws an error for the operator. */
export function parseRuntimeConfig(entries: readonly string[]): RuntimeConfig {
  const config = new Map<string, boolean>();
  for (const entry of entries.flatMap((each) => each.split(','))) {
    const text = entry.trim();
    if (text === '') continue;
    const [key = '', value = 'true', ...rest] = text.split('=');
    if (rest.length > 0 || !['true', 'false'].includes(value) || !/^[a-z0-9.-]+(\/[a-z0-9.-]+){0,2}$/.test(key)) {
      throw new Error(
        `--runtime-config: ${JSON.stringify(entry)} is not like batch/v1=false, batch/v1/jobs=false or api/all=true`,
      );
    }
    config.set(key, value === 'true');
  }
  return config;
}

export interface ServedByDefault {
  readonly version: boolean;
  readonly resource: boolean;
}

/** The most specific entry counts: the resource, the version, its stability, all. */
export function isServed(
  config: RuntimeConfig,
  { group, version, resource }: { readonly group: string; readonly version: string; readonly resource: string },
  byDefault: ServedByDefault,
): boolean {
  const name = group === '' ? version : `${group}/${version}`;
  const ofResource = config.get(`${group === '' ? 'core/' : ''}${name}/${resource}`);
  if (ofResource !== undefined) return ofResource;
  const ofVersion = config.get(name) ?? (group === '' ? config.get(`api/${version}`) : undefined);
  if (ofVersion !== undefined) return ofVersion;
  const ofStability = config.get(`api/${stabilityOf(version)}`) ?? config.get('api/all');
  if (ofStability !== undefined) return ofStability;
  return byDefault.version && byDefault.resource;
}

function stabilityOf(version: string): 'ga' | 'beta' | 'alpha' {
  if (version.includes('alpha')) return 'alpha';
  return version.includes('beta') ? 'beta' : 'ga';
}
