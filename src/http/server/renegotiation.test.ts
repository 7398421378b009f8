import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { type StartedListener, serverCa, startListener, text } from './listener.fixture.js';

let running: StartedListener | undefined;

afterEach(async () => {
  await running?.close(0);
  running = undefined;
});

it('Listener refuses TLS 1.2 renegotiation on an HTTP/1.1 connection', async () => {
  running = await startListener(async () => text('answer'));
  const options = { ALPNProtocols: ['http/1.1'], maxVersion: 'TLSv1.2' as const, ca: serverCa.pem };
  const socket = connect({ port: running.port, host: '127.0.0.1', ...options });
  await once(socket, 'secureConnect');
  const answered = once(socket, 'data');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await answered;
  const outcome = await new Promise<string>((resolve) => {
    socket.on('error', (error) => resolve(error.message));
    socket.renegotiate({}, (error) => resolve(error?.message ?? 'renegotiated'));
  });
  expect(outcome).toMatch(/no renegotiation/);
  socket.destroy();
});
