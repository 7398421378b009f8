/** `npm run test:examples`: the tests of examples/test-runners, with the package as `npm pack` makes it from what was built last. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const EXAMPLE = join(ROOT, 'examples/test-runners');

/** With its dependencies beside it, as npm would put them where other packages need other versions. */
function installPackage(): void {
  if (!existsSync(join(ROOT, 'dist'))) throw new Error('there is no dist/: run `npm run build` first');
  const folder = mkdtempSync(join(tmpdir(), 'straddle-pack-'));
  try {
    npm(ROOT, ['pack', '--ignore-scripts', '--pack-destination', folder]);
    const into = join(EXAMPLE, 'node_modules/straddle');
    rmSync(into, { recursive: true, force: true });
    mkdirSync(into, { recursive: true });
    const archive = join(folder, readdirSync(folder)[0]!);
    execFileSync('tar', ['-xzf', archive, '-C', into, '--strip-components=1']);
    const { dependencies } = JSON.parse(readFileSync(join(into, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    mkdirSync(join(into, 'node_modules'));
    for (const name of Object.keys(dependencies))
      symlinkSync(join(ROOT, 'node_modules', name), join(into, 'node_modules', name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function npm(cwd: string, args: readonly string[]): void {
  execFileSync('npm', [...args, '--loglevel=error'], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

try {
  console.log('installing jest and vitest …');
  npm(EXAMPLE, ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  installPackage();
  process.exitCode = spawnSync('npm', ['test'], { cwd: EXAMPLE, stdio: 'inherit' }).status ?? 1;
} catch (error) {
  console.error(`test:examples: ${(error as Error).message}`);
  process.exitCode = 1;
}
