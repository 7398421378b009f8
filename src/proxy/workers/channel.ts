import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { ToHead, ToWorker } from './worker-messages.js';

/** One end of the IPC channel between the head and a worker. Messages arrive in order. */
export interface Channel<Out, In> {
  /** `sent` is called when message and socket have left this process, or cannot be sent. */
  send(message: Out, socket?: Socket, sent?: () => void): void;
  onMessage(listener: (message: In, socket: Socket | undefined) => void): void;
}

type Endpoint = Pick<ChildProcess, 'send' | 'on' | 'connected'> | NodeJS.Process;

function channelOf<Out extends object, In>(endpoint: Endpoint): Channel<Out, In> {
  return {
    send(message, socket, sent) {
      if (!endpoint.connected) {
        socket?.destroy();
        sent?.();
        return;
      }
      // The other process may end at any moment; its exit event reports that, so send errors are
      // ignored.
      endpoint.send!(message, socket, {}, (error) => {
        if (error) socket?.destroy();
        sent?.();
      });
    },
    onMessage(listener) {
      endpoint.on('message', (message: unknown, handle: unknown) => {
        listener(message as In, handle instanceof Socket ? handle : undefined);
      });
    },
  };
}

export function channelToWorker(child: ChildProcess): Channel<ToWorker, ToHead> {
  return channelOf(child);
}

/** Returns the channel to the head, or undefined in a process that was not started as a worker. */
export function channelToHead(): Channel<ToHead, ToWorker> | undefined {
  return process.send === undefined ? undefined : channelOf(process);
}
