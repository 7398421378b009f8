import { eventually } from './eventually.js';
import { call, type Endpoint } from './http-client.js';
import { AGGREGATED_V2, type PlaneServer } from './plane.js';

const TIMEOUT_MS = 30_000;

type Asked = Pick<PlaneServer, 'kube' | 'straddle'> & { readonly name: string };

/** Waits until servers show the same merged discovery with the resources of each; resolves with its ETag. */
export function converged(servers: readonly Asked[], timeoutMs = TIMEOUT_MS): Promise<string> {
  return eventually(
    `the Straddles of ${servers.map(({ name }) => name).join(', ')} agree on merged discovery`,
    async () => {
      const merged = await Promise.all(servers.map(({ straddle }) => groupVersions(straddle.admin)));
      const local = await Promise.all(servers.map(({ kube }) => groupVersions(kube.admin, ';profile=nopeer')));
      const wanted = new Set(local.flatMap(({ names }) => names));
      for (const { names, etag } of merged) {
        if (etag !== merged[0]?.etag) throw new Error(`ETags differ: ${merged.map((each) => each.etag).join(' ')}`);
        const lacks = [...wanted].filter((name) => !names.includes(name));
        if (lacks.length > 0) throw new Error(`merged discovery lacks ${lacks.join(' ')}`);
      }
      return merged[0]?.etag ?? '';
    },
    { timeoutMs },
  );
}

async function groupVersions(endpoint: Endpoint, parameters = ''): Promise<{ names: string[]; etag: string }> {
  const answer = await call(endpoint, '/apis', { headers: { accept: AGGREGATED_V2 + parameters } });
  if (answer.status !== 200) throw new Error(`${endpoint.url}/apis: ${answer.status} ${answer.text.slice(0, 200)}`);
  const { items } = answer.json<{ items: { metadata: { name: string }; versions: { version: string }[] }[] }>();
  return {
    names: items.flatMap((group) => group.versions.map(({ version }) => `${group.metadata.name}/${version}`)),
    etag: String(answer.headers.etag ?? ''),
  };
}
