import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isOnPath } from './on-path.js';
import type { Surroundings } from './surroundings.js';

/** Starts a program that outlives this one; does not wait for it. */
type Start = (program: string, argument: string) => void;

/**
 * Opens an address with a secret in the browser of this machine, if it has one; does not wait for it. All users of a machine see the
 * arguments of programs, so the browser gets a file that only its user may read, which leads to the address. Returns a function that
 * removes the file.
 */
export function openBrowser(
  address: string,
  { environment }: Pick<Surroundings, 'environment'>,
  start: Start = startDetached,
): () => void {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const hasScreen = process.platform === 'darwin' || Boolean(environment['DISPLAY'] || environment['WAYLAND_DISPLAY']);
  if (!hasScreen || !isOnPath(program, { environment })) return () => {};
  let directory: string;
  try {
    // Its mode is 0700.
    directory = mkdtempSync(join(environment['TMPDIR'] || tmpdir(), 'straddle-dashboard-'));
  } catch {
    // The address was printed, too.
    return () => {};
  }
  const forget = () => rmSync(directory, { recursive: true, force: true });
  try {
    const file = join(directory, 'open.html');
    writeFileSync(file, leadingTo(address), { mode: 0o600, flag: 'wx' });
    start(program, pathToFileURL(file).href);
  } catch {
    forget();
  }
  return forget;
}

function leadingTo(address: string): string {
  // A parsed address has no character that HTML would take for its own, but this one.
  const url = new URL(address).href.replaceAll('&', '&amp;');
  const head = '<meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Straddle</title>';
  return `<!doctype html>${head}<meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">Straddle</a>\n`;
}

function startDetached(program: string, argument: string): void {
  // Without a shell: it is one argument.
  const child = spawn(program, [argument], { detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}
