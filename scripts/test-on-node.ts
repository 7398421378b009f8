/** `npm run test:node`: the tests of `npm test`, run by other Node.js releases than the one that is installed. */
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { NODE_RELEASES, nodeProgram } from './node-release.js';

const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const MAJORS = [...NODE_RELEASES.keys()];

const USAGE = `Usage: npm run test:node -- [--others] <release> … [-- <arguments of vitest>]

Runs the tests with these Node.js releases, one after the other: ${MAJORS.join(', ')}, oldest or newest. A release that is not
installed is taken from the npm package with its program (once, into a cache outside the checkout).

  --others   leave out the major version that runs this command, because \`npm test\` has used it

Examples:
  npm run test:node -- 26
  npm run test:node -- --others oldest newest
  npm run test:node -- 22 -- src/http
`;

function majorOf(text: string): string {
  if (text === 'oldest') return MAJORS[0]!;
  if (text === 'newest') return MAJORS.at(-1)!;
  if (MAJORS.includes(text)) return text;
  throw new Error(`there is no release ${text} in the list: ${MAJORS.join(', ')}, oldest, newest`);
}

/** Runs vitest; child processes that start `node` by its name get the same release. */
function test(program: string, args: readonly string[]): boolean {
  const env = { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env['PATH'] ?? ''}` };
  return spawnSync(program, [VITEST, 'run', ...args], { stdio: 'inherit', env }).status === 0;
}

function main(argv: readonly string[]): number {
  const end = argv.indexOf('--');
  const { values, positionals } = parseArgs({
    args: end === -1 ? [...argv] : argv.slice(0, end),
    options: { others: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (positionals.length === 0) throw new Error('name at least one release');
  const current = process.versions.node.split('.')[0]!;
  const majors = [...new Set(positionals.map(majorOf))].filter((major) => !values.others || major !== current);
  const failed: string[] = [];
  for (const major of majors) {
    const program = nodeProgram(major, (line) => process.stdout.write(`${line}\n`));
    process.stdout.write(`\nNode.js ${NODE_RELEASES.get(major)}\n`);
    if (!test(program, end === -1 ? [] : argv.slice(end + 1))) failed.push(major);
  }
  if (failed.length > 0) process.stderr.write(`tests failed on Node.js ${failed.join(', ')}\n`);
  return failed.length === 0 ? 0 : 1;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
  process.exitCode = 2;
}
