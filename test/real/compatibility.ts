/** `npm run compatibility`: docs/compatibility.md, from what runs of `npm run test:real -- --record=<file>` recorded. */
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compatibilityPage } from './compatibility-page.js';
import { readRecord } from './record.js';

const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/compatibility.md', import.meta.url));

const USAGE = `Usage: npm run compatibility [-- <file> …]

Copies the files, which \`npm run test:real -- --record=<file>\` wrote, into test/real/results, and makes docs/compatibility.md
from all that are there. Of several results of a scenario on the same servers the last one counts.

Examples:
  npm run compatibility
  npm run compatibility -- /tmp/1.36-1.37.json
`;

function main(files: readonly string[]): number {
  if (files.includes('--help') || files.includes('-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const option = files.find((file) => file.startsWith('-'));
  if (option !== undefined) {
    process.stderr.write(`unknown option ${option}\n\n${USAGE}`);
    return 2;
  }
  try {
    for (const file of files) add(file);
    const recorded = readdirSync(RESULTS).filter((name) => name.endsWith('.json'));
    writeFileSync(PAGE, compatibilityPage(recorded.sort().map((name) => readRecord(join(RESULTS, name)))));
    process.stdout.write(`${PAGE}: ${recorded.length} recorded runs\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  }
}

/** Read first: a file that is no record must not get into the folder. */
function add(file: string): void {
  readRecord(file);
  const target = join(RESULTS, basename(file));
  if (resolve(file) !== target) copyFileSync(file, target);
}

process.exitCode = main(process.argv.slice(2));
