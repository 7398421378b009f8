import type { Command } from 'commander';
import { convertDescriptions, writeDescriptions } from '../apiserver/descriptions/convert-descriptions.js';
import { convertSurface, type ServerDocuments, writeSurface } from '../apiserver/surfaces/convert-surface.js';
import { readServer } from '../apiserver/surfaces/read-server.js';
import { fileProblem } from '../base/file-problem.js';
import type { KubeconfigAccess } from '../compose/config/kubeconfig.js';
import type { Json } from '../kube/json.js';
import { type AccessOptions, KUBECONFIG_HELP, kubeRequest, readAccess } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

const EXAMPLES = `
A surface is what one Kubernetes version serves: groups, versions, resources, and the types of their objects. Straddle
brings those of a few versions along; this makes another from any server that runs (Kubernetes 1.27 or newer), with the
rights of whoever may read discovery. Custom resources and aggregated APIs are left out, which takes the right to list
APIServices. What the server has switched off is not in it: --runtime-config=api/all=true on that server shows it all.

A surface has no prose. --descriptions writes that of the server, which kubectl explain prints, in place of the surface.

Examples:
  $ straddle surface capture --output=1.37.json
  $ straddle surface capture --kubeconfig=/etc/kubernetes/admin.conf --context=prod > prod.json
  Serve it, with its descriptions:
  $ straddle surface capture --descriptions --output=1.37-descriptions.json
  $ straddle apiserver --data-dir=./data --surface-file=1.37.json --descriptions-file=1.37-descriptions.json
`;

interface CaptureOptions extends AccessOptions {
  readonly output?: string;
  readonly descriptions?: boolean;
}

export function addSurfaceCommand(program: Command, surroundings: Surroundings): void {
  const surface = program
    .command('surface')
    .description('Work with surfaces, the built-in types of Kubernetes versions')
    .helpCommand(false)
    .action(() => surface.outputHelp());
  surface
    .command('capture')
    .description('Capture the surface of a running kube-apiserver')
    .option('--kubeconfig <path>', KUBECONFIG_HELP)
    .option('--context <name>', 'context in it (default: its current one)')
    .option('--output <path>', 'file to write (default: standard output)')
    .option('--descriptions', 'write the descriptions of types, fields and parameters in place of the surface')
    .option('--insecure-skip-tls-verify', 'obey a kubeconfig that says not to verify the server')
    .addHelpText('after', EXAMPLES)
    .action(async ({ output, descriptions = false, ...options }: CaptureOptions) => {
      const documents = await readDocuments(await readAccess(options, surroundings), surroundings);
      const { text, summary } = descriptions ? descriptionsText(documents) : surfaceText(documents);
      surroundings.stderr(`${summary}\n`);
      if (output === undefined) surroundings.stdout(text);
      else writeTo(output, text, surroundings);
    });
}

/** Reads everything of the server that is captured. Progress is written to stderr. */
function readDocuments(
  access: KubeconfigAccess,
  surroundings: Pick<Surroundings, 'readFile' | 'nowMs' | 'stderr'>,
): Promise<ServerDocuments> {
  const get = async (path: string, accept: string): Promise<Json> => {
    const { status, body } = await kubeRequest(access, surroundings, { method: 'GET', path, accept });
    if (status === 200) return body as Json;
    const message = (body as { readonly message?: unknown } | null)?.message;
    throw new Error(`${access.server} answered ${status} to GET ${path}: ${message ?? 'no reason given'}.`);
  };
  return readServer({ get, progress: (line) => surroundings.stderr(`${line}\n`) });
}

interface CapturedText {
  readonly text: string;
  /** One line for stderr. */
  readonly summary: string;
}

function surfaceText(documents: ServerDocuments): CapturedText {
  const file = convertSurface(documents);
  const count = file.groups.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources)).length;
  const types = Object.keys(file.types).length;
  return {
    text: writeSurface(file),
    summary: `surface of ${file.capturedFrom}: ${count} resources, ${types} types`,
  };
}

function descriptionsText(documents: ServerDocuments): CapturedText {
  const file = convertDescriptions(documents);
  const types = Object.values(file.types);
  const fields = types.reduce((sum, { fields = {} }) => sum + Object.keys(fields).length, 0);
  return {
    text: writeDescriptions(file),
    summary: `descriptions of ${file.capturedFrom}: ${types.length} types, ${fields} fields`,
  };
}

function writeTo(path: string, text: string, { writeFile, stderr }: Surroundings): void {
  try {
    writeFile(path, text);
  } catch (error) {
    throw new Error(`${path} cannot be written (${fileProblem(error)}).`);
  }
  stderr(`written to ${path}\n`);
}
