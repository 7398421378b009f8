import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../base/clock.js';
import { ManualClock, until } from '../../base/manual-clock.fixture.js';
import { ApiConnection } from './api-connection.js';
import { HalfRecord } from './half-record.js';
import { startHttpsServer } from './https-server.fixture.js';
import { Watching } from './watching.js';

const NONE = { bad: 0, of: 0 };
const COUNTS = { collectedByMistake: NONE, notCollected: NONE, namespacesEndedEarly: NONE, namespacesStuck: NONE };
const COLLECTION = '/api/v1/namespaces/a/configmaps';

const closings: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const each of closings.splice(0).reverse()) await each();
});

/** Each watch that comes in is answered by the next of these. */
function setUp(...watches: ((response: ServerResponse) => void)[]) {
  return setUpAt(systemClock, ...watches);
}

async function setUpAt(clock: Clock, ...watches: ((response: ServerResponse) => void)[]) {
  const asked: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { searchParams } = new URL(request.url!, 'http://server');
    if (searchParams.get('watch') !== 'true') {
      response.end(JSON.stringify({ kind: 'List', metadata: { resourceVersion: '10' }, items: [] }));
      return;
    }
    asked.push(searchParams.get('resourceVersion')!);
    const next = watches.shift();
    if (next) next(response);
    else response.write(event('BOOKMARK', '99'));
  };
  const { access, close } = await startHttpsServer(answer);
  closings.push(close);
  const api = new ApiConnection(access);
  closings.push(() => api.close());
  const record = new HalfRecord(systemClock);
  const options = { who: 'watcher', api, collection: COLLECTION, isServed: () => true, record, clock };
  const watching = new Watching(options);
  closings.push(() => watching.stop());
  watching.start();
  const result = () => record.result({ proxy: false, leftInStore: 0, counts: COUNTS });
  return { asked, watching, broken: () => result().findings.brokenWatches, examples: () => result().examples };
}

function event(type: string, resourceVersion: string): string {
  return `${JSON.stringify({ type, object: { metadata: { resourceVersion } } })}\n`;
}

describe('a watch of the load', () => {
  it('resumes from its last event after an orderly end, also after some 503s', async () => {
    const { asked, broken } = await setUp(
      (response) => response.end(event('ADDED', '11') + event('BOOKMARK', '15')),
      (response) => response.writeHead(503).end('{}'),
    );
    await until(() => asked.length === 3, 'a third watch');
    expect(asked).toEqual(['10', '15', '15']);
    expect(broken()).toBe(0);
  });

  it('is broken if its connection is lost', async () => {
    const { asked, broken } = await setUp((response) => {
      response.write(event('ADDED', '11'), () => setImmediate(() => response.destroy()));
    });
    await until(() => asked.length === 2, 'a second watch');
    expect(asked).toEqual(['10', '11']);
    expect(broken()).toBe(1);
  });

  it('is broken once, however often it is refused with 404', async () => {
    const refuse = (response: ServerResponse): void => void response.writeHead(404).end('{}');
    const { asked, broken, examples } = await setUp(refuse, refuse, refuse);
    await until(() => asked.length === 4, 'a fourth watch');
    expect(broken()).toBe(1);
    expect(examples()[0]!.text).toContain('was refused: 404');
  });

  it('is broken, and lists again, after an ERROR event that its version is too old', async () => {
    const { asked, broken } = await setUp((response) => response.end(event('ERROR', '')));
    await until(() => asked.length === 2, 'a second watch');
    expect(asked).toEqual(['10', '10']);
    expect(broken()).toBe(1);
  });

  it('is broken if an acknowledged write has no event in time, unless the write was before its first list', async () => {
    const clock = new ManualClock();
    const { asked, watching, broken, examples } = await setUpAt(clock);
    await until(() => asked.length === 1, 'a watch');
    watching.expect('9');
    watching.expect('12');
    await until(() => {
      void clock.advance(1_000);
      return broken() > 0;
    }, 'a complaint');
    expect(examples().map(({ text }) => text)).toEqual([
      `watcher: watch of ${COLLECTION} never told of 1 writes, such as at 12`,
    ]);
  });
});
