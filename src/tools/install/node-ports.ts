import { spawn } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../../compose/config/config-error.js';

const RESOLVE_MS_MAX = 5_000;
const CRICTL_MS_MAX = 10_000;
const CRICTL_BYTES_MAX = 65_536;

/** Returns the addresses of a name as this machine resolves it; none if that fails or takes too long. */
export async function resolveName(name: string): Promise<readonly string[]> {
  const found = lookup(name, { all: true }).catch(() => []);
  const answers = await Promise.race([found, delay(RESOLVE_MS_MAX, [], { ref: false })]);
  return answers.map(({ address }) => address);
}

/** Asks the container runtime for an image; undefined where crictl is missing or does not say. Never rejects. */
export function hasImage(image: string): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const child = spawn('crictl', ['inspecti', image], { stdio: ['ignore', 'ignore', 'pipe'], timeout: CRICTL_MS_MAX });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (errors.length < CRICTL_BYTES_MAX) errors += text;
    });
    child.once('error', () => resolve(undefined));
    child.once('close', (code) => {
      if (code === 0) resolve(true);
      else resolve(/no such image/i.test(errors) ? false : undefined);
    });
  });
}

/**
 * Takes the only place for a change of a machine, and returns how to give it up; rejects with ConfigError while another process
 * has it. The kernel frees the place with the process. It is an abstract socket, which containers with the network of the host
 * share, named for the root folder itself, which has other paths there.
 */
export function lockMachine(root: string): Promise<() => void> {
  const { dev, ino } = statSync(root);
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      // Only Linux has abstract sockets, and nodes.
      if (error.code !== 'EADDRINUSE') resolve(() => {});
      else
        reject(new ConfigError(['Another straddle install or uninstall is changing this machine: wait for its end.']));
    });
    server.listen(`\0straddle-install-${dev}-${ino}`, () => resolve(() => void server.close()));
  });
}
