/** `--runtime-config`: which versions and resources are served, against what is on by default. */
export type RuntimeConfig = ReadonlyMap<string, boolean>;

/** Throws with a sentence for the operator. `batch/v1=false,api/all=true`; a key alone means true. */
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

/** The most particular word counts: the resource, the version, all of its stability, all. */
export function isServed(
  config: RuntimeConfig,
  { group, version, resource }: { readonly group: string; readonly version: string; readonly resource: string },
  byDefault: ServedByDefault,
): boolean {
  const name = group === '' ? version : `${group}/${version}`;
  const said = config.get(`${group === '' ? 'core/' : ''}${name}/${resource}`);
  if (said !== undefined) return said;
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
