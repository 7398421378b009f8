import assert from 'node:assert/strict';
import type { Agent } from 'node:https';
import { BODIES } from '../bad-input/bodies.js';
import { GADGET_DEFINITION, SCHEMAS } from '../bad-input/definitions.js';
import { PATCHES } from '../bad-input/patches.js';
import { READS } from '../bad-input/reads.js';
import {
  CONFIG_MAPS,
  configMap,
  DEFINITIONS,
  DEPLOYMENTS,
  deployment,
  GADGETS,
  gadget,
  type OddRequest,
  PODS,
} from '../bad-input/request.js';
import { HOSTILE, WRITES } from '../bad-input/writes.js';
import { type Pair, pairPrograms, startPair } from '../golden/pair.js';
import { eventually } from '../rig/eventually.js';
import { type Answer, call, type Endpoint, keepAliveAgent } from '../rig/http-client.js';
import type { Scenario } from '../scenario.js';

/** A plain read beside whatever was asked must not take longer. */
const SERVES_MS_MAX = 1_000;
const ANSWER_TIMEOUT_MS = 30_000;

export const badInput: Scenario = {
  number: 21,
  name: 'bad input gets the same code and reason from `straddle apiserver` as from a kube-apiserver, and others are served meanwhile',
  timeoutMs: 300_000,
  programs: pairPrograms,
  async run({ plane, defer }) {
    const pair = await startPair(plane.dir);
    defer(() => pair.stop());
    const differences = await compareRequests(pair);
    assert.ok(
      differences.length === 0,
      `${differences.length} differ (kube-apiserver ≠ straddle):\n${differences.join('\n')}`,
    );
  },
};

/** One line for each request that the two servers answered differently. */
export async function compareRequests({ real, ours }: Pick<Pair, 'real' | 'ours'>): Promise<string[]> {
  const servers = [real.admin, ours.admin].map((admin) => ({ admin, agent: keepAliveAgent(2) }));
  await Promise.all(servers.map(({ admin }) => prepare(admin)));
  const differences: string[] = [];
  for (const request of [...BODIES, ...WRITES, ...PATCHES, ...READS, ...SCHEMAS, ...HOSTILE]) {
    const [expected, actual] = await Promise.all(servers.map((server) => outcome(server, request)));
    const wanted = request.deliberately?.answers ?? expected!.verdict;
    if (wanted === actual!.verdict && actual!.serves) continue;
    const slow = actual!.serves ? '' : ' (a read beside it took too long)';
    differences.push(
      `${request.what}: ${wanted} ≠ ${actual!.verdict}${slow}\n    ${expected!.message}\n    ${actual!.message}`,
    );
  }
  for (const { agent } of servers) agent.destroy();
  return differences;
}

interface Server {
  readonly admin: Endpoint;
  /** For the reads beside; what is odd gets a connection of its own. */
  readonly agent: Agent;
}

async function prepare(server: Endpoint): Promise<void> {
  const made = async (path: string, body: object): Promise<void> => {
    const answer = await call(server, path, { method: 'POST', body });
    assert.equal(answer.status, 201, `${path}: ${answer.text}`);
  };
  await made('/api/v1/namespaces', { metadata: { name: 'odd' } });
  await made('/api/v1/namespaces/odd/serviceaccounts', { metadata: { name: 'default' } });
  for (const name of ['known', 'doomed', 'beside']) await made(CONFIG_MAPS, configMap(name, { data: { a: 'b' } }));
  await made(DEPLOYMENTS, deployment('known'));
  const containers = ['a', 'b'].map((name) => ({ name, image: name }));
  await made(PODS, { metadata: { name: 'several' }, spec: { containers } });
  await made(DEFINITIONS, GADGET_DEFINITION);
  await eventually('gadgets are served', async () => {
    const answer = await call(server, GADGETS, { method: 'POST', body: gadget('known', { size: 1 }) });
    return answer.status === 201;
  });
}

interface Outcome {
  readonly verdict: string;
  readonly message: string;
  readonly serves: boolean;
}

async function outcome(server: Server, request: OddRequest): Promise<Outcome> {
  const asked = send(server.admin, request);
  const [verdict, serves] = await Promise.all([asked, servesBeside(server)]);
  return { ...verdict, serves: serves && (await servesBeside(server)) };
}

async function send(server: Endpoint, request: OddRequest): Promise<Pick<Outcome, 'verdict' | 'message'>> {
  const { method, path, body, contentType, headers } = request;
  try {
    const answer = await call(server, path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...(contentType === undefined ? {} : { 'content-type': contentType }), ...headers },
      ...(body === undefined ? {} : { body }),
      timeoutMs: ANSWER_TIMEOUT_MS,
    });
    const { reason, message } = statusOf(answer);
    return { verdict: `${answer.status} ${reason}`.trimEnd(), message: message.slice(0, 300) };
  } catch (error) {
    return { verdict: 'no answer', message: (error as Error).message };
  }
}

function statusOf({ text }: Answer): { reason: string; message: string } {
  try {
    const { kind, reason = '', message = '' } = JSON.parse(text) as Record<string, string>;
    return kind === 'Status' ? { reason, message } : { reason: '', message: text };
  } catch {
    // A request that accepts YAML gets its Status in YAML.
    return { reason: /^reason: (\w+)$/m.exec(text)?.[1] ?? '', message: text };
  }
}

async function servesBeside({ admin, agent }: Server): Promise<boolean> {
  const startedMs = Date.now();
  const answer = await call(admin, `${CONFIG_MAPS}/beside`, { agent }).catch(() => undefined);
  return answer?.status === 200 && Date.now() - startedMs <= SERVES_MS_MAX;
}
