import { createHash } from 'node:crypto';
import { cpSync, createReadStream, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { mustRun } from '../cluster/run-command.js';

export interface ScratchImage {
  readonly name: string;
  /** Source of each file of the image, by its path there. */
  readonly files: Readonly<Record<string, string>>;
  /** As in the configuration of an OCI image. */
  readonly config: Readonly<Record<string, unknown>>;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64' };

/**
 * Writes an image of files and nothing else as an archive of docker's form, which `ctr images import` reads. buildah would copy
 * the hundreds of megabytes of Kubernetes' programs four times.
 */
export async function writeScratchImage(file: string, { name, files, config }: ScratchImage): Promise<void> {
  const work = `${file}.parts`;
  const root = join(work, 'root');
  for (const [path, from] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    cpSync(from, join(root, path), { dereference: true });
  }
  const layer = join(work, 'layer.tar');
  await mustRun(['tar', '--create', `--file=${layer}`, '--owner=0', '--group=0', `--directory=${root}`, '.']);
  const hash = createHash('sha256');
  await pipeline(createReadStream(layer), hash);
  const image = {
    architecture: ARCHITECTURES[arch()] ?? arch(),
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: [`sha256:${hash.digest('hex')}`] },
  };
  const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }];
  writeFileSync(join(work, 'config.json'), JSON.stringify(image));
  writeFileSync(join(work, 'manifest.json'), JSON.stringify(manifest));
  const parts = ['manifest.json', 'config.json', 'layer.tar'];
  await mustRun(['tar', '--create', `--file=${file}`, `--directory=${work}`, ...parts]);
  rmSync(work, { recursive: true });
}
