import type { Command } from 'commander';
import { convertSurface, writeSurface } from '../apiserver/surfaces/convert-surface.js';
import { readServer } from '../apiserver/surfaces/read-server.js';
import type { KubeconfigAccess } from '../compose/config/kubeconfig.js';
import type { Json } from '../kube/json.js';
import { type AccessOptions, kubeRequest, readAccess } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

const EXAMPLES = `
A surface is what one Kubernetes version serves: groups, versions, resources, and the types of their objects. Straddle
brings those of a few versions along; this makes another from any server that runs (Kubernetes 1.27 or newer), with the
rights of whoever may read discovery. Custom resources and aggregated APIs are left out, which takes the right to list
APIServices. What the server has switched off is not in it: --runtime-config=api/all=true on that server shows it all.

Examples:
  $ straddle surface capture --output=1.37.json
  $ straddle surface capture --kubeconfig=/etc/kubernetes/admin.conf --context=prod > prod.json
`;

interface CaptureOptions extends AccessOptions {
  readonly output?: string;
}

export function addSurfaceCommand(program: Command, surroundings: Surroundings): void {
  const surface = program
    .command('surface')
    .description('Work with surfaces, the built-in types of Kubernetes versions');
  surface
    .command('capture')
    .description('Capture the surface of a running kube-apiserver')
    .option('--kubeconfig <path>', 'kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context in it (default: its current one)')
    .option('--output <path>', 'file to write (default: standard output)')
    .option('--insecure-skip-tls-verify', 'obey a kubeconfig that says not to verify the server')
    .addHelpText('after', EXAMPLES)
    .action(async ({ output, ...options }: CaptureOptions) => {
      const text = await captureSurface(readAccess(options, surroundings), surroundings);
      if (output === undefined) surroundings.stdout(text);
      else writeTo(output, text, surroundings);
    });
}

/** Returns the text of a surface file. Progress is written to stderr. */
async function captureSurface(
  access: KubeconfigAccess,
  surroundings: Pick<Surroundings, 'readFile' | 'nowMs' | 'stderr'>,
): Promise<string> {
  const { stderr } = surroundings;
  const get = async (path: string, accept: string): Promise<Json> => {
    const { status, body } = await kubeRequest(access, surroundings, { method: 'GET', path, accept });
    if (status === 200) return body as Json;
    const message = (body as { readonly message?: unknown } | null)?.message;
    throw new Error(`${access.server} answered ${status} to GET ${path}: ${message ?? 'no reason given'}.`);
  };
  const file = convertSurface(await readServer({ get, progress: (line) => stderr(`${line}\n`) }));
  const count = file.groups.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources)).length;
  stderr(`surface of ${file.capturedFrom}: ${count} resources, ${Object.keys(file.types).length} types\n`);
  return writeSurface(file);
}

function writeTo(path: string, text: string, { writeFile, stderr }: Surroundings): void {
  try {
    writeFile(path, text);
  } catch (error) {
    throw new Error(`${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? error}).`);
  }
  stderr(`written to ${path}\n`);
}
