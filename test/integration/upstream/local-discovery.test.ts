import { afterEach, describe, expect, it } from 'vitest';
import { HOSTS } from './mixed-plane.js';
import { ALL, CREATE_ONLY, requestsAt, ServerWithPeers } from './server-with-peers.js';

/** The cases of local_discovery_test.go: each by where a request goes that a peer could serve, too. */

const BARS = 'foo.example.com/v1/bars';
const BAZ = 'foo.example.com/v1/bazs';

describe.each(HOSTS)('local_discovery_test.go, %s host:', (host) => {
  let server: ServerWithPeers;
  const start = async (serves = {}) => {
    server = new ServerWithPeers(host);
    await server.start(serves);
    return server.peer('remote', { [BARS]: ALL, [BAZ]: ALL, [CREATE_ONLY]: ALL });
  };
  const list = async (resource: string) => expect((await server.ask(`/apis/${resource}`)).status).toBe(200);
  afterEach(() => server.close());

  it('TestShouldServeLocally_Table/resource present and true', async () => {
    const peer = await start({ [BARS]: ALL });
    await list(BARS);
    expect(requestsAt(peer)).toEqual([]);
  });

  // Upstream can mark a resource as not served. Straddle decides by verb: what the local server lists without the verb
  // of the request is not served locally.
  it('TestShouldServeLocally_Table/resource present and false', async () => {
    const peer = await start();
    await list(CREATE_ONLY);
    expect(requestsAt(peer)).toEqual([`GET /apis/${CREATE_ONLY}`]);
  });

  it('TestShouldServeLocally_Table/resource not present', async () => {
    const peer = await start({ [BARS]: ALL });
    await list(BAZ);
    expect(requestsAt(peer)).toEqual([`GET /apis/${BAZ}`]);
  });

  it('TestShouldServeLocally_Table/empty cache', async () => {
    const peer = await start();
    await list(BARS);
    expect(requestsAt(peer)).toEqual([`GET /apis/${BARS}`]);
  });
});
