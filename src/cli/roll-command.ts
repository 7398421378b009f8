import { resolve } from 'node:path';
import type { Command } from 'commander';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import { PLANE_DATA_DIR } from '../tools/plane/control-plane-options.js';
import { controlSocketPath, isSteered, sendRoll } from '../tools/plane/control-socket.js';
import { stderrColors } from './stream-look.js';
import type { Surroundings } from './surroundings.js';
import { minorVersion } from './version-argument.js';

interface RollFlags {
  readonly to: string;
  readonly server?: string;
  readonly dataDir: string;
}

const [BEFORE, NEWEST] = shippedVersions().slice(-2);

const EXAMPLES = `
Each server is stopped, started in the other version at the same address, and must be ready and agree with the others on
what is served before the next one goes. The control plane that \`straddle up\` runs does it; ending this command does not.

Examples:
  $ straddle roll --to=${NEWEST}
  Back again, one server only:
  $ straddle roll --to=${BEFORE} --server=server-1
`;

export function addRollCommand(program: Command, surroundings: Surroundings): void {
  program
    .command('roll')
    .description('Bring the servers of a running `straddle up` to another version, one after the other')
    .requiredOption(
      '--to <version>',
      `minor version; Straddle's own servers have ${shippedVersions().join(', ')}`,
      minorVersion,
    )
    .option('--server <name>', 'only this one, such as server-1')
    .option('--data-dir <path>', 'the one that was given to `straddle up`', PLANE_DATA_DIR)
    .addHelpText('after', EXAMPLES)
    .action((flags: RollFlags) => rollServers(flags, surroundings));
}

async function rollServers({ to, server, dataDir }: RollFlags, surroundings: Surroundings): Promise<void> {
  const colors = stderrColors(surroundings);
  const path = controlSocketPath(resolve(dataDir));
  if (!(await isSteered(path)))
    throw new Error(
      `No control plane runs on ${resolve(dataDir)}: start it with \`straddle up\`, or name its --data-dir.`,
    );
  const order = { to, ...(server === undefined ? {} : { server }) };
  const replaced = await sendRoll(path, order, (sentence) => surroundings.stderr(`${colors.dim(sentence)}\n`));
  const which = server ?? 'every server';
  surroundings.stdout(replaced === 0 ? `${which} runs ${to} already\n` : `${which} runs ${to} now\n`);
}
