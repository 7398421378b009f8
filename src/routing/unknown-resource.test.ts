import { describe, expect, it } from 'vitest';
import { AttemptError } from '../core/host.js';
import { BodyStream } from '../http/body-stream.js';
import type { Reply } from '../http/exchange.js';
import { status } from '../kube/status.js';
import { ask } from '../proxy/routing/routing.fixture.js';
import { refusalAtHand, saysUnknownResource } from './unknown-resource.js';

const RESIZE = ask('PUT', '/api/v1/namespaces/x/pods/p/resize');

/** As it comes over a connection, and what ends it. */
function streamed(text: string, length: number | undefined = text.length) {
  const body = new BodyStream({ pause() {}, resume() {}, cancel() {} });
  body.push(Buffer.from(text));
  const lengthField = length === undefined ? [] : ['Content-Length', String(length)];
  const reply: Reply = { status: 404, headers: ['Content-Type', 'application/json', ...lengthField], body };
  return { body, reply };
}

describe('a 404', () => {
  it('with a Status says that nothing is served there, or that there is no such object', async () => {
    const says = async (message: string): Promise<boolean> => {
      const { body, reply } = streamed(JSON.stringify(status('NotFound', message)));
      body.end();
      return saysUnknownResource(RESIZE, await refusalAtHand(RESIZE, reply));
    };
    expect(await says('the server could not find the requested resource')).toBe(true);
    expect(await says('pods "p" not found')).toBe(false);
  });

  it('of an object that is named like the sentence says that there is no such object', () => {
    const message = 'the server could not find the requested resource';
    const exchange = ask('GET', `/api/v1/namespaces/x/pods/${encodeURIComponent(message)}`);
    const body = Buffer.from(JSON.stringify(status('NotFound', `pods "${message}" not found`)));
    const headers = ['Content-Type', 'application/json'];
    expect(saysUnknownResource(exchange, { status: 404, headers, body })).toBe(false);
  });

  it('that is long, or of unknown length, streams on unread', async () => {
    for (const { reply } of [streamed('{', 5_000), { reply: { ...streamed('{').reply, headers: [] } }]) {
      expect(await refusalAtHand(RESIZE, reply)).toBe(reply);
    }
  });

  it('that breaks off is no answer', async () => {
    const { body, reply } = streamed('{', 100);
    const reading = refusalAtHand(RESIZE, reply);
    body.fail(new Error('reset'));
    await expect(reading).rejects.toBeInstanceOf(AttemptError);
  });
});
