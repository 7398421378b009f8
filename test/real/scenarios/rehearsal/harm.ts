import assert from 'node:assert/strict';
import { type Exercise, harmOf } from '../../../../src/tools/rehearse/rehearsal-result.js';
import type { Rehearsed } from './run-rehearsal.js';

/** All kinds of harm that the difference of the servers allows with the proxy off, none with it on. */
export function harmIsPrevented({ code, differences, off, on, said }: Rehearsed): void {
  const isExercised = (wanted: Exercise): boolean => differences.some(({ exercises }) => exercises.includes(wanted));
  const { wrong404s, collectedByMistake, namespacesEndedEarly, namespacesStuck, discoveryFlaps } = off.findings;
  assert.ok(isExercised('requests'), `something differs and is exercised: ${said}`);
  assert.ok(wrong404s > 0, 'wrong 404s');
  assert.ok(discoveryFlaps > 0, 'discovery that flaps');
  assert.equal(harmOf(on), 0, JSON.stringify(on.examples, null, 1));
  if (isExercised('owners')) {
    assert.ok(collectedByMistake.bad > 0, 'an object collected by mistake');
    assert.ok(on.findings.collectedByMistake.of > 0, 'dependents were watched over');
  }
  // Servers may differ in resources without a namespace only.
  if (isExercised('namespaces')) {
    assert.ok(namespacesEndedEarly.bad + namespacesStuck.bad > 0, 'a namespace ended early, or stuck');
    assert.ok(on.findings.namespacesEndedEarly.of > 0, 'namespaces were deleted');
  }
  assert.equal(code, 0, said);
}
