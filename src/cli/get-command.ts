import { type Command, Option } from 'commander';
import { dump } from 'js-yaml';
import { printable } from '../base/printable.js';
import { isObject, type JsonObject } from '../kube/json.js';
import { metadataOf } from '../kube/metadata-of.js';
import { pathOf } from '../kube/resource-kind.js';
import { columns } from '../tools/inspect/columns.js';
import { type AccessOptions, KUBECONFIG_HELP, kubeRequest, readAccess } from './kube-access.js';
import { answered, readKinds, resourceNamed } from './resource-argument.js';
import type { Surroundings } from './surroundings.js';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const DEFAULT_NAMESPACE = 'default';

const EXAMPLES = `
A small reader for machines without kubectl: it asks one server, through one context of the kubeconfig, and prints its answer.
<resource> is as kubectl takes it: pods, deployments.apps or deployments.v1.apps. Without a name it lists all namespaces.

Examples:
  $ straddle get namespaces
  $ straddle get --context=server-1 podcertificaterequests.v1.certificates.k8s.io
  $ straddle get configmaps kube-root-ca.crt -n default -o yaml
`;

interface GetFlags extends AccessOptions {
  readonly namespace?: string;
  readonly output: 'table' | 'json' | 'yaml';
}

export function addGetCommand(program: Command, surroundings: Surroundings): void {
  program
    .command('get')
    .description('Read objects through one server, where there is no kubectl')
    .argument('<resource>', 'what to read, such as pods or deployments.apps')
    .argument('[name]', 'only this object')
    .option('--kubeconfig <path>', KUBECONFIG_HELP)
    .option('--context <name>', 'context in it (default: its current one)')
    .option('-n, --namespace <name>', `only this namespace (default: all; of a named object ${DEFAULT_NAMESPACE})`)
    .addOption(new Option('-o, --output <form>', 'how to print it').choices(['table', 'json', 'yaml']).default('table'))
    .option('--insecure-skip-tls-verify', 'obey a kubeconfig that says not to verify the server')
    .addHelpText('after', EXAMPLES)
    .action(async (resource: string, name: string | undefined, flags: GetFlags) => {
      surroundings.stdout(await get({ resource, name }, flags, surroundings));
    });
}

async function get(
  { resource, name }: { readonly resource: string; readonly name: string | undefined },
  { namespace, output, ...options }: GetFlags,
  surroundings: Surroundings,
): Promise<string> {
  const access = await readAccess(options, surroundings);
  const found = resourceNamed(resource, await readKinds(access, surroundings));
  const within = namespace ?? (name === undefined ? '' : DEFAULT_NAMESPACE);
  const path = 'path' in found ? found.path : pathOf(found, within, name);
  const accept = output === 'table' ? TABLE : 'application/json';
  const answer = await kubeRequest(access, surroundings, { method: 'GET', path, accept });
  if (answer.status !== 200) throw answered(access, `GET ${path}`, answer);
  if (output === 'json') return `${JSON.stringify(answer.body, null, 2)}\n`;
  if (output === 'yaml') return dump(answer.body, { lineWidth: 120, noRefs: true });
  return tableText(answer.body as JsonObject, resource);
}

interface Column {
  readonly name: string;
  readonly priority: number;
}

/** Returns a Table of the server as kubectl shows it, with the namespaces; names alone if the server has sent no Table. */
function tableText(body: JsonObject, resource: string): string {
  const rows = objectsIn(body['rows']);
  if (body['kind'] !== 'Table') return namesText(objectsIn(body['items'] ?? [body]), resource);
  if (rows.length === 0) return `No ${resource} found.\n`;
  const definitions = objectsIn(body['columnDefinitions']).map(
    ({ name, priority }): Column => ({ name: String(name), priority: Number(priority ?? 0) }),
  );
  const shown = definitions.flatMap(({ priority }, index) => (priority === 0 ? [index] : []));
  const isNamespaced = rows.some((row) => namespaceOf(row['object']) !== '');
  const cellsOf = (namespace: string, cells: readonly unknown[]): string[] => [
    ...(isNamespaced ? [namespace] : []),
    ...shown.map((index) => printable(String(cells[index] ?? ''))),
  ];
  return columns([
    cellsOf(
      'NAMESPACE',
      definitions.map(({ name }) => name.toUpperCase()),
    ),
    ...rows.map((row) => cellsOf(namespaceOf(row['object']), Array.isArray(row['cells']) ? row['cells'] : [])),
  ]);
}

function namesText(objects: readonly JsonObject[], resource: string): string {
  if (objects.length === 0) return `No ${resource} found.\n`;
  const rows = objects.map((each) => [namespaceOf(each), printable(String(metadataOf(each)['name'] ?? ''))]);
  return columns([['NAMESPACE', 'NAME'], ...rows]);
}

function namespaceOf(object: unknown): string {
  return isObject(object) ? printable(String(metadataOf(object)['namespace'] ?? '')) : '';
}

function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
