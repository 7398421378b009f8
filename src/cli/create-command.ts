import type { Command } from 'commander';
import { loadAll } from 'js-yaml';
import { printable } from '../base/printable.js';
import { ConfigError } from '../compose/config/config-error.js';
import { resourceName } from '../kube/gvr.js';
import { isObject, type JsonObject } from '../kube/json.js';
import { metadataOf } from '../kube/metadata-of.js';
import { apiVersionOf, pathOf, type ResourceKind } from '../kube/resource-kind.js';
import { type AccessOptions, KUBECONFIG_HELP, kubeRequest, readAccess, readNamed } from './kube-access.js';
import { answered, readKinds } from './resource-argument.js';
import type { Surroundings } from './surroundings.js';

const DEFAULT_NAMESPACE = 'default';

const EXAMPLES = `
For machines without kubectl, as \`straddle get\`: it sends the objects of a file to one server, one after the other, through one
context of the kubeconfig. An object without a namespace is made in ${DEFAULT_NAMESPACE}.

Examples:
  $ straddle create -f object.yaml
  $ straddle create --context=server-3 -f straddle-data/example.yaml
`;

interface CreateFlags extends AccessOptions {
  readonly filename: string;
}

export function addCreateCommand(program: Command, surroundings: Surroundings): void {
  program
    .command('create')
    .description('Create the objects of a file through one server, where there is no kubectl')
    .requiredOption('-f, --filename <path>', 'file of objects, in YAML or JSON')
    .option('--kubeconfig <path>', KUBECONFIG_HELP)
    .option('--context <name>', 'context in it (default: its current one)')
    .option('--insecure-skip-tls-verify', 'obey a kubeconfig that says not to verify the server')
    .addHelpText('after', EXAMPLES)
    .action(({ filename, ...options }: CreateFlags) => create(filename, options, surroundings));
}

async function create(file: string, options: AccessOptions, surroundings: Surroundings): Promise<void> {
  const objects = objectsOf(file, surroundings);
  const access = await readAccess(options, surroundings);
  const kinds = await readKinds(access, surroundings);
  const found = objects.map((object) => ({ object, kind: kindOf(object, kinds, file) }));
  for (const { object, kind } of found) {
    const namespace = String(metadataOf(object)['namespace'] ?? DEFAULT_NAMESPACE);
    const path = pathOf(kind, namespace);
    const answer = await kubeRequest(access, surroundings, { method: 'POST', path, body: object });
    if (answer.status !== 201) throw answered(access, `POST ${path}`, answer);
    const name = String(metadataOf(answer.body as JsonObject)['name']);
    surroundings.stdout(printable(`${resourceName(kind)} ${name} created through ${access.context}`).concat('\n'));
  }
}

function objectsOf(file: string, surroundings: Surroundings): JsonObject[] {
  const text = readNamed(file, '--filename', surroundings);
  let documents: unknown[];
  try {
    documents = loadAll(text).filter((each) => each !== undefined && each !== null);
  } catch (error) {
    throw new ConfigError([`--filename ${file} is not YAML: ${(error as Error).message.split('\n', 1)[0]}.`]);
  }
  const objects = documents.filter(isObject);
  if (objects.length === 0 || objects.length < documents.length) {
    throw new ConfigError([`--filename ${file} must hold objects, each with apiVersion, kind and metadata.`]);
  }
  return objects;
}

function kindOf(object: JsonObject, kinds: readonly ResourceKind[], file: string): ResourceKind {
  const { apiVersion, kind } = object;
  const found = kinds.find((each) => apiVersionOf(each) === apiVersion && each.kind === kind);
  if (found !== undefined) return found;
  throw new ConfigError([`--filename ${file}: the server has no ${String(kind)} of ${String(apiVersion)}.`]);
}
