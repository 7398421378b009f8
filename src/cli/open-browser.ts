import { spawn } from 'node:child_process';
import { isOnPath } from './on-path.js';
import type { Surroundings } from './surroundings.js';

/** Opens an address in the browser of this machine, if it has one; does not wait for it. */
export function openBrowser(address: string, { environment }: Pick<Surroundings, 'environment'>): void {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const hasScreen = process.platform === 'darwin' || Boolean(environment['DISPLAY'] || environment['WAYLAND_DISPLAY']);
  if (!hasScreen || !isOnPath(program, { environment })) return;
  // Without a shell: the address is one argument.
  const child = spawn(program, [address], { detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}
