import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';

/**
 * `npm run boundaries`: which folder of src/ may import which, and what page/ may import. Fails for an import that boundaries.cjs does not allow, for a
 * folder without a row, and for an allowance that no import uses, so that the table stays a description of the code.
 */
interface Boundaries {
  readonly allowed: Readonly<Record<string, readonly string[]>>;
  filesOf(folder: string): string;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const boundaries = createRequire(import.meta.url)('../boundaries.cjs') as Boundaries;

const isSource = (path: string): boolean => /^src\/.*\.ts$/.test(path) && !/\.(test|fixture)\.ts$/.test(path);

const rows = Object.keys(boundaries.allowed).map((folder) => ({
  folder,
  files: new RegExp(boundaries.filesOf(folder)),
}));

const folderOf = (path: string): string | undefined => rows.find(({ files }) => files.test(path))?.folder;

function usedAllowances({ modules }: ICruiseResult): Set<string> {
  const used = new Set<string>();
  for (const { source, dependencies } of modules.filter((each) => isSource(each.source))) {
    for (const { resolved } of dependencies) used.add(`${folderOf(source)} -> ${folderOf(resolved)}`);
  }
  return used;
}

function tableFaults(result: ICruiseResult): string[] {
  const faults: string[] = [];
  const sources = result.modules.map(({ source }) => source).filter(isSource);
  for (const source of sources) {
    if (folderOf(source) === undefined) faults.push(`folder-without-a-row: ${source} is in no row of boundaries.cjs`);
  }
  const used = usedAllowances(result);
  for (const { folder, files } of rows) {
    if (!sources.some((source) => files.test(source))) faults.push(`row-without-a-folder: src/${folder} has no files`);
    for (const other of boundaries.allowed[folder]!) {
      if (!used.has(`${folder} -> ${other}`))
        faults.push(`unused-allowance: no file of src/${folder} imports src/${other}`);
    }
  }
  return faults;
}

async function main(): Promise<number> {
  process.chdir(ROOT);
  const options = await extractOptions('./.dependency-cruiser.cjs');
  const tsConfig = extractTsConfig('tsconfig.json');
  const { output } = await cruise(['src', 'page', 'test'], { ...options, validate: true }, {}, { tsConfig });
  const result = output as ICruiseResult;
  const faults = result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} imports ${to}`);
  faults.push(...tableFaults(result));
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.stdout.write(`${result.modules.length} files, ${rows.length} folders, ${faults.length} faults\n`);
  return faults.length === 0 ? 0 : 1;
}

process.exitCode = await main();
