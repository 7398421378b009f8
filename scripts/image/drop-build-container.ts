import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './run-program.js';

interface Descriptor {
  size: number;
  digest: string;
}

/** As far as it is changed here; everything else stays as it is. */
interface ImageConfig {
  container?: string;
  container_config?: unknown;
  config: { Hostname?: string };
}

/**
 * Replaces an image by one without the random id and host name of the container in which buildah assembled it. The Docker format has
 * fields for them, and buildah 1.28 fills them in also where everything else is reproducible.
 */
export function dropBuildContainer(buildah: string, image: string, folder: string): void {
  const stored = runProgram(buildah, ['inspect', '--type=image', '--format={{.FromImageID}}', image]).trim();
  runProgram(buildah, ['push', '--quiet', '--disable-compression', image, `dir:${folder}`]);
  rewriteConfig(folder);
  const id = runProgram(buildah, ['pull', '--quiet', `dir:${folder}`]).trim();
  if (id === stored) return;
  runProgram(buildah, ['tag', id, image]);
  runProgram(buildah, ['rmi', stored]);
}

/** In a folder with an image, as containers/image lays it out: manifest.json, and each part under its hash. */
export function rewriteConfig(folder: string): void {
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { config: Descriptor };
  const file = (digest: string) => join(folder, digest.slice('sha256:'.length));
  const config = JSON.parse(readFileSync(file(manifest.config.digest), 'utf8')) as ImageConfig;
  delete config.container;
  delete config.container_config;
  delete config.config.Hostname;
  const text = JSON.stringify(config);
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  if (digest !== manifest.config.digest) rmSync(file(manifest.config.digest));
  writeFileSync(file(digest), text);
  manifest.config = { ...manifest.config, size: Buffer.byteLength(text), digest };
  writeFileSync(path, JSON.stringify(manifest));
}
