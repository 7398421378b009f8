import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Surroundings } from './surroundings.js';

export function straddleVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version;
}

export function versionLine(): string {
  return `straddle ${straddleVersion()} (Node.js ${process.versions.node})`;
}

export function addVersionCommand(program: Command, surroundings: Surroundings): void {
  program
    .command('version')
    .description('Print the version of Straddle and of the Node.js it runs on')
    .addHelpText('after', '\nExample:\n  $ straddle version\n')
    .action(() => surroundings.stdout(`${versionLine()}\n`));
}
