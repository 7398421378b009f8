import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Builds the product if a source is newer than what was built from it. */
export function ensureBuilt(say: (line: string) => void): void {
  if (!isStale()) return;
  say('building straddle …');
  const build = spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, encoding: 'utf8' });
  if (build.status !== 0) throw new Error(`npm run build failed:\n${build.stdout}${build.stderr}`);
}

function isStale(): boolean {
  const entry = join(ROOT, 'dist', 'cli', 'main.js');
  if (!existsSync(entry)) return true;
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return sources
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.endsWith('.fixture.ts'))
    .some((path) => {
      const built = join(ROOT, 'dist', path.replace(/\.ts$/, '.js'));
      return !existsSync(built) || statSync(built).mtimeMs < statSync(join(ROOT, 'src', path)).mtimeMs;
    });
}
