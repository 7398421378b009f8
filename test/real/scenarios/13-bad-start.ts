import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { eventually, within } from '../rig/eventually.js';
import { call } from '../rig/http-client.js';
import type { StraddleFlags } from '../rig/straddle.js';
import type { Scenario } from '../scenario.js';

export const badStart: Scenario = {
  number: 13,
  name: 'bad certificates end the start with a clear error; an unreachable upstream means not ready, then ready',
  async run({ plane }) {
    await plane.arrange(layoutOf('default'));
    const { pki, dir } = plane;
    const { straddle, kube } = plane.a;
    await straddle.stop();
    const rubbish = join(dir, 'rubbish.crt');
    writeFileSync(rubbish, 'this is no certificate\n');
    const missing = join(dir, 'no-such-file.crt');
    await refusesToStart(plane, { 'tls-cert-file': missing }, [/no-such-file\.crt/, /tls-cert-file/]);
    await refusesToStart(plane, { 'client-ca-file': rubbish }, [/rubbish\.crt/, /client-ca-file/]);
    await refusesToStart(plane, { 'tls-private-key-file': pki.users.alice.keyFile }, [
      /tls-private-key-file|alice\.key/,
    ]);
    await refusesToStart(plane, { 'proxy-client-key-file': pki.users.alice.keyFile }, [
      /proxy-client-key-file|alice\.key/,
    ]);
    await refusesToStart(plane, { 'peer-ca-file': missing }, [/no-such-file\.crt/, /peer-ca-file/]);

    const settings = kube.settings ?? assert.fail();
    await kube.stop();
    straddle.launch();
    const answer = await eventually('the Straddle answers without its upstream', () =>
      call(straddle.admin, '/readyz?verbose', { timeoutMs: 2_000 }),
    );
    assert.notEqual(answer.status, 200, 'it must not be ready');
    assert.equal((await call(straddle.admin, '/livez')).status, 200);
    const refused = await call(straddle.admin, '/api/v1/namespaces');
    assert.equal(refused.status, 503, refused.text);
    assert.ok(straddle.running, 'it keeps trying');
    await kube.start(settings);
    await straddle.ready();
    await plane.converged();
  },
};

async function refusesToStart(plane: ControlPlane, flags: StraddleFlags, said: readonly RegExp[]): Promise<void> {
  const process = plane.a.straddle.launch(flags);
  const logBegins = process.log().length;
  const exit = await within(`refusal of ${Object.keys(flags)}`, 10_000, process.exited).catch(async (error) => {
    await process.stop();
    throw error;
  });
  assert.notEqual(exit.code, 0, `it started with ${JSON.stringify(flags)}`);
  const log = process.log().slice(Math.max(0, logBegins - 1));
  for (const pattern of said) assert.match(log, pattern);
  assert.doesNotMatch(log, /^\s+at .*\(.*:\d+:\d+\)$/m, 'a stack trace is no clear error');
}
