import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { BodyStream } from './body-stream.js';
import { discard, drain } from './discard.js';

function streamed(): { body: BodyStream; cancelled: Error[] } {
  const cancelled: Error[] = [];
  const body = new BodyStream({ pause() {}, resume() {}, cancel: (error) => cancelled.push(error) });
  return { body, cancelled };
}

describe('discard', () => {
  it('cancels the body of a reply with the given error', () => {
    const { body, cancelled } = streamed();
    discard({ status: 200, headers: [], body }, new Error('the client left'));
    expect(cancelled.map(({ message }) => message)).toEqual(['the client left']);
  });

  it('closes the connection of an upgraded reply', () => {
    const socket = new PassThrough();
    discard({ status: 101, headers: [], body: null, upgraded: { socket, head: Buffer.alloc(0) } });
    expect(socket.destroyed).toBe(true);
  });

  it('does nothing for a reply that is whole in memory', () => {
    expect(() => discard({ status: 200, headers: [], body: Buffer.from('whole') })).not.toThrow();
  });
});

describe('drain', () => {
  it('reads a short body to its end without cancelling it', async () => {
    const { body, cancelled } = streamed();
    const drained = drain({ status: 404, headers: [], body }, 10);
    body.push(Buffer.from('0123456789'));
    body.end();
    await drained;
    expect(cancelled).toEqual([]);
  });

  it('cancels a body that is longer than the bound', async () => {
    const { body, cancelled } = streamed();
    const drained = drain({ status: 404, headers: [], body }, 10);
    body.push(Buffer.from('0123456789+'));
    await drained;
    expect(cancelled.map(({ message }) => message)).toEqual(['more than 10 bytes of a reply that is not used']);
  });

  it('resolves when the body breaks off', async () => {
    const { body } = streamed();
    const drained = drain({ status: 200, headers: [], body }, 10);
    body.fail(new Error('reset'));
    await expect(drained).resolves.toBeUndefined();
  });
});
