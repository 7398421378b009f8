import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControlSocket, controlSocketPath, isSteered, sendRoll } from './control-socket.js';

let parent: string;
let socket: ControlSocket | undefined;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'control-socket-'));
});
afterEach(async () => {
  await socket?.close();
  socket = undefined;
  rmSync(parent, { recursive: true, force: true });
});

function folder(name: string): string {
  const path = join(parent, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

async function listen(dataDir: string): Promise<void> {
  socket = new ControlSocket(dataDir, { roll: async () => 7 });
  await socket.listen();
}

describe.each([
  ['a short path', 'data'],
  ['a path too long for a socket', 'd'.repeat(120)],
])('the control socket of a data directory with %s', (_, name) => {
  it('takes orders, is accessible to its owner only, and is removed at close', async () => {
    const dataDir = folder(name);
    await listen(dataDir);
    const path = controlSocketPath(dataDir);
    expect(await isSteered(path)).toBe(true);
    expect(await sendRoll(path, { to: '1.36' }, () => {})).toBe(7);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(statSync(dirname(path)).mode & 0o077).toBe(0);
    await socket?.close();
    expect(existsSync(path)).toBe(false);
    expect(await isSteered(controlSocketPath(dataDir))).toBe(false);
  });

  it('replaces the socket of a killed process', async () => {
    const dataDir = folder(name);
    await listen(dataDir);
    const left = controlSocketPath(dataDir);
    const killed = socket!;
    await listen(dataDir);
    expect(await sendRoll(controlSocketPath(dataDir), { to: '1.36' }, () => {})).toBe(7);
    if (left !== controlSocketPath(dataDir)) expect(existsSync(dirname(left))).toBe(false);
    await killed.close();
  });
});

it('the control socket is not at a path under the temporary directory that another user can compute', async () => {
  const dataDir = folder('d'.repeat(120));
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const impostor = createServer((_, answer) => void answer.end('{"done":0}\n'));
  impostor.listen(join(tmpdir(), `straddle-${digest}.sock`));
  await once(impostor, 'listening');
  try {
    expect(await isSteered(controlSocketPath(dataDir))).toBe(false);
    await listen(dataDir);
    expect(await sendRoll(controlSocketPath(dataDir), { to: '1.36' }, () => {})).toBe(7);
  } finally {
    impostor.close();
  }
});

it('the control socket replaces a link in its place and leaves the file that it leads to', async () => {
  const dataDir = folder('linked');
  const precious = join(parent, 'precious');
  writeFileSync(precious, 'text');
  symlinkSync(precious, join(dataDir, 'control.sock'));
  await listen(dataDir);
  expect(existsSync(precious)).toBe(true);
  expect(await sendRoll(controlSocketPath(dataDir), { to: '1.36' }, () => {})).toBe(7);
});
