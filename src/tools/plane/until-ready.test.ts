import { expect, it } from 'vitest';
import type { Reply } from '../../http/exchange.js';
import type { Destination, OutgoingRequest } from '../../http/outgoing.js';
import { untilAnswersItself, untilReady } from './until-ready.js';

/** Ready from the first question on, and answering for itself from the third. */
function sidecar(): { readonly destination: Destination; readonly asked: string[] } {
  const asked: string[] = [];
  const send = async ({ target, headers }: OutgoingRequest): Promise<Reply> => {
    const forItself = headers.some((value) => value.includes('profile=nopeer'));
    asked.push(forItself ? `${target} for itself` : target);
    const waits = forItself && asked.filter((each) => each.endsWith('for itself')).length < 3;
    return { status: waits ? 503 : 200, headers: [], body: Buffer.from('{}') };
  };
  return { destination: { address: '127.0.0.1:1', send } as unknown as Destination, asked };
}

const options = { name: 'server-1', check: () => {}, hint: 'is it up?' };

it('untilAnswersItself waits for a sidecar that is ready only because peers reply in its place', async () => {
  const { destination, asked } = sidecar();
  await untilReady(destination, options);
  expect(asked.some((each) => each.endsWith('for itself'))).toBe(false);
  await untilAnswersItself(destination, options);
  expect(asked.filter((each) => each === '/api for itself')).toHaveLength(3);
});

it('untilReady rejects after its limit with the last reply and the hint', async () => {
  const { destination } = sidecar();
  await expect(untilAnswersItself(destination, { ...options, limitMs: 0 })).rejects.toThrow(
    'server-1 is not ready after 0 s: answers 503 for itself (is it up?)',
  );
});
