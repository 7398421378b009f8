import { join } from 'node:path';
import type { Command } from 'commander';
import { fileProblem } from '../base/file-problem.js';
import { straddleVersion } from '../base/straddle-version.js';
import { ConfigError } from '../compose/config/config-error.js';
import { rbacManifest } from '../compose/straddle-rights.js';
import { type ApiServerManifest, readApiServerManifest } from '../tools/install/api-server-manifest.js';
import { clusterApiExample } from '../tools/install/cluster-api-example.js';
import { ANY_NODE, kubeadmPatches, type NamedFile, PATCHES_DIR } from '../tools/install/kubeadm-patches.js';
import { type Sidecar, sidecarOf, sidecarOfAnyNode } from '../tools/install/sidecar.js';
import { DEFAULT_IMAGE_NAME, straddlePod } from '../tools/install/straddle-pod.js';
import { systemdUnit } from '../tools/install/systemd-unit.js';
import { readNamed } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

const EXAMPLES = `
The pieces that \`straddle install --kubeadm\` writes, for people and for tools that write files themselves. With --from they
are those of one node, by the static pod of its kube-apiserver; without it they fit every node whose certificates are
where kubeadm keeps them.

Examples:
  $ straddle manifest pod --from=/etc/kubernetes/manifests/kube-apiserver.yaml --image=straddle:1.0.0
  $ straddle manifest kubeadm-patches --write-to=/etc/kubernetes/patches
  $ straddle manifest systemd --from=/etc/kubernetes/manifests/kube-apiserver.yaml > /etc/systemd/system/straddle.service
  $ straddle manifest rbac | kubectl apply -f -
  $ straddle manifest cluster-api --image=straddle:1.0.0
`;

interface From {
  readonly from?: string;
}

export function addManifestCommand(program: Command, surroundings: Surroundings): void {
  const { stdout } = surroundings;
  const manifest = program
    .command('manifest')
    .description('Print the static pod, kubeadm patches, systemd unit or RBAC of a Straddle on a control-plane node')
    .addHelpText('after', EXAMPLES);
  const piece = (name: string, description: string) =>
    manifest.command(name).description(description).addHelpText('after', EXAMPLES);
  const withFrom = (command: Command) =>
    command.option('--from <path>', 'static pod of the kube-apiserver that kubeadm wrote (default: any node)');
  const withImage = (command: Command) =>
    command.option('--image <image>', 'image of Straddle', `${DEFAULT_IMAGE_NAME}:${straddleVersion()}`);

  withImage(withFrom(piece('pod', 'The static pod of Straddle'))).action(
    ({ from, image }: From & { readonly image: string }) => stdout(straddlePod(sidecarFrom(from, surroundings), image)),
  );
  withFrom(piece('kubeadm-patches', 'The patches with which kubeadm keeps the kube-apiserver behind Straddle'))
    .option('--write-to <folder>', 'write each patch into a file of this folder instead of printing them')
    .action(({ from, writeTo }: From & { readonly writeTo?: string }) => {
      const patches = kubeadmPatches(from === undefined ? ANY_NODE : read(from, surroundings));
      if (writeTo === undefined) stdout(patchesText(patches));
      else writePatches(patches, writeTo, surroundings);
    });
  withFrom(piece('systemd', 'A systemd unit for a Straddle without a container'))
    .option('--program <path>', 'where the program is', '/usr/local/bin/straddle')
    .action(({ from, program: path }: From & { readonly program: string }) =>
      stdout(systemdUnit(sidecarFrom(from, surroundings), path)),
    );
  piece('rbac', 'The rights of the user system:straddle, as `straddle rbac` prints them').action(() =>
    stdout(rbacManifest('system:straddle')),
  );
  withImage(piece('cluster-api', 'A KubeadmControlPlane of Cluster API, as an example')).action(
    ({ image }: { readonly image: string }) => stdout(clusterApiExample(image, rbacManifest('system:straddle'))),
  );
}

function sidecarFrom(from: string | undefined, surroundings: Surroundings): Sidecar {
  return from === undefined ? sidecarOfAnyNode() : sidecarOf(read(from, surroundings));
}

function read(path: string, surroundings: Surroundings): ApiServerManifest {
  return readApiServerManifest(path, readNamed(path, 'The static pod', surroundings));
}

function writePatches(patches: readonly NamedFile[], folder: string, { writeFile, stdout }: Surroundings): void {
  for (const { name, text } of patches) {
    const path = join(folder, name);
    try {
      writeFile(path, text);
    } catch (error) {
      throw new ConfigError([`${path} cannot be written (${fileProblem(error)}).`]);
    }
    stdout(`wrote ${path}\n`);
  }
}

function patchesText(patches: readonly NamedFile[]): string {
  return patches.map(({ name, text }) => `# ${PATCHES_DIR}/${name}\n${text}`).join('---\n');
}
