import assert from 'node:assert/strict';
import { harmOf } from '../../../../src/tools/rehearse/rehearsal-result.js';
import type { Rehearsed } from './run-rehearsal.js';

/** All kinds of harm with the proxy off, none with it on, and there was something to harm. */
export function harmIsPrevented({ code, off, on, said }: Rehearsed): void {
  const { wrong404s, collectedByMistake, namespacesEndedEarly, namespacesStuck, discoveryFlaps } = off.findings;
  assert.ok(wrong404s > 0, 'wrong 404s');
  assert.ok(collectedByMistake.bad > 0, 'an object collected by mistake');
  assert.ok(namespacesEndedEarly.bad + namespacesStuck.bad > 0, 'a namespace ended early, or stuck');
  assert.ok(discoveryFlaps > 0, 'discovery that flaps');
  assert.equal(harmOf(on), 0, JSON.stringify(on.examples, null, 1));
  assert.ok(on.findings.collectedByMistake.of > 0, 'dependents were watched over');
  assert.ok(on.findings.namespacesEndedEarly.of > 0, 'namespaces were deleted');
  assert.equal(code, 0, said);
}
