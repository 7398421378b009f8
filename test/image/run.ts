/** `npm run test:image`: builds the image and the self-contained archive twice, looks into them and runs them. */
import { within } from '../real/rig/eventually.js';
import { buildCases } from './build-cases.js';
import { ContainerEngine } from './container-engine.js';
import { contentCases } from './content-cases.js';
import { makeNodeFiles } from './control-plane-node.js';
import type { ImageCase, Subject } from './image-case.js';
import { runCases } from './run-cases.js';

const USAGE = `Usage: npm run test:image

Builds the image and the archive with npm run image and npm run bundle, twice each, and compares them; runs the image with podman, also as
the static pod that straddle manifest prints, and the archive without any other Node.js. Needs Linux, root, and the Debian packages
buildah, podman, runc, catatonit and iproute2. Images and containers are kept apart from those of the machine, and removed at the end.
`;

/** Two builds with a compiler each, on a busy machine. */
const CASE_MS_MAX = 900_000;

async function runCase({ name, run }: ImageCase, subject: Subject): Promise<boolean> {
  const startedMs = Date.now();
  let told = '';
  let failure: Error | undefined;
  try {
    told = await within(
      name,
      CASE_MS_MAX,
      Promise.resolve().then(() => run(subject)),
    );
  } catch (error) {
    failure = error as Error;
  }
  const took = `${((Date.now() - startedMs) / 1000).toFixed(1)}s`;
  process.stdout.write(`${failure ? 'FAIL' : 'ok  '} ${name}${told === '' ? '' : ` (${told})`}  ${took}\n`);
  if (failure) process.stdout.write(`${failure.message.replace(/^/gm, '        ')}\n`);
  return failure === undefined;
}

async function main(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    const isHelp = args.includes('--help') || args.includes('-h');
    process[isHelp ? 'stdout' : 'stderr'].write(USAGE);
    return isHelp ? 0 : 2;
  }
  const engine = new ContainerEngine();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      engine.close();
      process.exit(1);
    });
  }
  let passed = 0;
  const cases = [...buildCases, ...contentCases, ...runCases];
  try {
    const subject: Subject = { engine, node: makeNodeFiles(engine.folder), image: '', bundle: '', folder: '' };
    for (const each of cases) if (await runCase(each, subject)) passed += 1;
  } finally {
    engine.close();
  }
  process.stdout.write(`${passed} passed, ${cases.length - passed} failed\n`);
  return passed === cases.length ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
