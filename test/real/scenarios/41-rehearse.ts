import assert from 'node:assert/strict';
import type { Scenario } from '../scenario.js';
import { harmIsPrevented } from './rehearsal/harm.js';
import { runRehearsal } from './rehearsal/run-rehearsal.js';

export const rehearsal: Scenario = {
  number: 41,
  name: 'straddle rehearse with real kube-apiservers: harm without the proxy, none with it',
  timeoutMs: 900_000,
  async run(context) {
    const rehearsed = await runRehearsal(context, '--hold=5s');
    harmIsPrevented(rehearsed);
    assert.equal(rehearsed.on.findings.notCollected.bad, 0, 'dependents of deleted owners are collected');
  },
};
