import { connect } from 'node:net';
import { eventually, GiveUp } from '../../test/real/rig/eventually.js';
import type { RigProcess } from '../../test/real/rig/process.js';

/** Waits until the process accepts connections; rejects with its output if it ends before. */
export async function listening(process: RigProcess, address: string, port: number): Promise<void> {
  await eventually(`${process.name} takes connections`, async () => {
    if (!process.running) throw new GiveUp(`${process.name} ended:\n${process.logTail()}`);
    return accepts(address, port);
  });
}

function accepts(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
