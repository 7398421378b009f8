import type { Command } from 'commander';
import { straddleVersion } from '../base/straddle-version.js';
import type { Surroundings } from './surroundings.js';

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
