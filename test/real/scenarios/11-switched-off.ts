import assert from 'node:assert/strict';
import { AGGREGATED_V2, layoutOf } from '../rig/control-plane.js';
import { call, type Endpoint } from '../rig/http-client.js';
import type { StraddleFlags } from '../rig/straddle.js';
import type { Scenario } from '../scenario.js';
import { newerApi, newerIn } from './newer-api.js';

export const switchedOff: Scenario = {
  number: 11,
  name: 'gate off, or no --peer-ca-file: pure pass-through, discovery byte-identical to the server’s, one warning',
  async run({ plane, namespace }) {
    const layout = layoutOf('default');
    await plane.arrange(layout);
    const ns = await namespace();
    const withoutPeerCa = { 'peer-ca-file': undefined, 'upstream-ca-file': plane.pki.ca.certFile };
    const ways: Record<string, StraddleFlags> = {
      'no --peer-ca-file': withoutPeerCa,
      'gate off': { ...withoutPeerCa, 'feature-gates': 'UnknownVersionInteroperabilityProxy=false' },
    };
    for (const [way, flags] of Object.entries(ways)) {
      const { straddle, kube } = plane.a;
      await straddle.stop();
      const logBegins = straddle.process?.log().length ?? 0;
      await straddle.start(flags);
      for (const accept of [AGGREGATED_V2, `${AGGREGATED_V2};profile=nopeer`, 'application/json']) {
        for (const path of ['/apis', '/api', `/apis/${newerApi().group}`, '/openapi/v3', '/version']) {
          await identical(straddle.admin, kube.admin, path, accept);
        }
      }
      assert.equal((await call(straddle.admin, newerIn(ns))).status, 404, `${way}: it was rerouted`);
      const warnings = (straddle.process?.log() ?? '')
        .slice(logBegins)
        .split('\n')
        .filter((line) => line.includes('"level":"warn"'));
      assert.equal(warnings.length, 1, `${way}: warnings:\n${warnings.join('\n')}`);
    }
    await plane.arrange(layout);
  },
};

async function identical(straddle: Endpoint, kube: Endpoint, path: string, accept: string): Promise<void> {
  const headers = { accept };
  const [through, straight] = [await call(straddle, path, { headers }), await call(kube, path, { headers })];
  assert.equal(through.status, straight.status);
  assert.equal(through.headers.etag, straight.headers.etag, `${path}: another ETag`);
  assert.equal(through.headers['content-type'], straight.headers['content-type']);
  assert.ok(through.body.equals(straight.body), `${path} (${accept}) is not byte-identical`);
}
