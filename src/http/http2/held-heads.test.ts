import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../base/manual-clock.fixture.js';
import { type FrameClient, GET, startConnection, stopConnections } from './frame-client.fixture.js';
import { CONNECTION_HEADS_BYTES_MIN } from './http2-limits.js';
import { ErrorCode, FrameType } from './protocol.js';

afterEach(stopConnections);

const FIELD_BYTES = 15_000;
const HEAD = [...GET, 'x-large', 'x'.repeat(FIELD_BYTES)];
const STREAMS = 350;

function refusedIds(client: FrameClient): number[] {
  return client.frames.filter(({ type }) => type === FrameType.rstStream).map(({ streamId }) => streamId);
}

describe('ServerConnection with many large heads', () => {
  it('refuses streams whose heads together exceed the bound, also when their responses wait for a window', async () => {
    const { client, requests } = await startConnection(
      (stream) => stream.respond(429, [], Buffer.from('too many requests')),
      { streamsMax: STREAMS },
    );
    client.greet([4, 0]);
    for (let i = 0; i < STREAMS; i++) client.headers(2 * i + 1, HEAD);
    await client.roundTrip();
    const fitting = Math.floor(CONNECTION_HEADS_BYTES_MIN / FIELD_BYTES);
    expect(requests.length).toBeGreaterThan(fitting - 10);
    expect(requests.length).toBeLessThanOrEqual(fitting);
    expect(refusedIds(client)).toHaveLength(STREAMS - requests.length);
    expect(await client.rstCode(2 * STREAMS - 1)).toBe(ErrorCode.refusedStream);
  });

  it('serves further streams when others are closed, however many follow each other', async () => {
    const { client, requests } = await startConnection((stream) => stream.respond(204, [], null));
    client.greet();
    for (let i = 0; i < STREAMS; i++) {
      client.headers(2 * i + 1, HEAD);
      await until(() => requests.length === i + 1);
    }
    await client.roundTrip();
    expect(refusedIds(client)).toEqual([]);
  });
});
