import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ControlSocket } from '../tools/plane/control-socket.js';
import { chosenKubeconfig } from './kube-access.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'straddle-access-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function chosen(
  kubeconfig?: string,
  environment: Record<string, string> = {},
  within = folder,
): Promise<[string, string]> {
  let err = '';
  const stderr = (text: string): void => {
    err += text;
  };
  const surroundings = { environment, homeDirectory: '/home/x', stderr };
  const path = await chosenKubeconfig(kubeconfig === undefined ? {} : { kubeconfig }, surroundings, within);
  return [path, err];
}

describe('chosenKubeconfig', () => {
  it('is that of a control plane that runs on ./straddle-data, which is said, unless another one is named', async () => {
    const dataDir = join(folder, 'straddle-data');
    mkdirSync(dataDir);
    const home = '/home/x/.kube/config';
    expect(await chosen()).toEqual([home, '']);
    const socket = new ControlSocket(dataDir, { roll: () => Promise.reject(new Error('not expected')) });
    await socket.listen();
    const said = 'straddle: the control plane of ./straddle-data (another one: --kubeconfig)\n';
    expect(await chosen()).toEqual([join(dataDir, 'kubeconfig'), said]);
    expect(await chosen('/other')).toEqual(['/other', '']);
    expect(await chosen(undefined, { KUBECONFIG: '/env' })).toEqual(['/env', '']);
    await socket.close();
    // The kubeconfig of one that has ended is of no use to anybody.
    expect(await chosen()).toEqual([home, '']);
  });

  it('is not one of a folder whose socket is that of another program or of another control plane', async () => {
    const foreign = join(folder, 'foreign');
    const dataDir = join(foreign, 'straddle-data');
    mkdirSync(dataDir, { recursive: true });
    const program = createServer((_, answer) => void answer.end('{}'));
    const programSocket = join(folder, 'program.sock');
    program.listen(programSocket);
    await once(program, 'listening');
    const own = join(folder, 'own');
    mkdirSync(own);
    const plane = new ControlSocket(own, { roll: () => Promise.reject(new Error('not expected')) });
    await plane.listen();
    for (const target of [programSocket, join(own, 'control.sock')]) {
      symlinkSync(target, join(dataDir, 'control.sock'));
      expect(await chosen(undefined, {}, foreign)).toEqual(['/home/x/.kube/config', '']);
      rmSync(join(dataDir, 'control.sock'));
    }
    await plane.close();
    program.close();
  });
});
