import { call, type Endpoint, keepAliveAgent } from '../test/real/rig/http-client.js';

const AT_ONCE = 16;
const KINDS_PER_GROUP = 10;
const CREATE_TIMEOUT_MS = 60_000;
const ATTEMPTS_MAX = 5;

export interface CustomKind {
  readonly group: string;
  readonly plural: string;
}

export function customKinds(count: number): CustomKind[] {
  return Array.from({ length: count }, (_, i) => ({
    group: `g${Math.floor(i / KINDS_PER_GROUP)}.bench.example.com`,
    plural: `things${i}`,
  }));
}

/** Creates them all through the servers given, some at a time on each. */
export async function createCustomKinds(servers: readonly Endpoint[], kinds: readonly CustomKind[]): Promise<void> {
  const agent = keepAliveAgent(AT_ONCE);
  let next = 0;
  const worker = async (server: Endpoint): Promise<void> => {
    while (next < kinds.length) await create(server, kinds[next++]!, agent);
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => worker(servers[i % servers.length]!)));
  } finally {
    agent.destroy();
  }
}

async function create(
  server: Endpoint,
  kind: CustomKind,
  agent: ReturnType<typeof keepAliveAgent>,
  attempt = 1,
): Promise<void> {
  const { status, text } = await call(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    method: 'POST',
    body: definition(kind),
    agent,
    timeoutMs: CREATE_TIMEOUT_MS,
  });
  if (status === 201 || (status === 409 && attempt > 1)) return;
  // A busy API server may refuse some; that is its right.
  if ((status !== 429 && status !== 503 && status !== 504) || attempt === ATTEMPTS_MAX) {
    throw new Error(`creating ${kind.plural}: ${status} ${text.slice(0, 300)}`);
  }
  await create(server, kind, agent, attempt + 1);
}

function definition({ group, plural }: CustomKind): object {
  const spec = { type: 'object', properties: { size: { type: 'integer' } } };
  const singular = plural.replace('things', 'thing');
  const kind = singular.replace('thing', 'Thing');
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular, kind, shortNames: [`s${singular}`], categories: ['bench'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: { type: 'object' } } } },
        },
      ],
    },
  };
}
