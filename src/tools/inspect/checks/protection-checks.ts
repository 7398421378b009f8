import type { EndpointReading } from '../endpoint-reading.js';
import { GATE, kindText, type Protection } from '../protection.js';
import { type Finding, fail, ok, unknown } from './check-line.js';

const NATIVE_MEND = `Start kube-apiserver with --feature-gates=${GATE}=true (the default from 1.36) and --peer-ca-file, or put \`straddle proxy\` before it.`;

/** Checks which proxy protects clients of this address, and its settings. */
export function protectionFindings(reading: EndpointReading, protection: Protection): Finding[] {
  return [protectedBy(reading, protection), gate(reading, protection), peerCa(reading, protection)];
}

function protectedBy({ unreachable }: EndpointReading, protection: Protection): Finding {
  const check = 'protection';
  if (unreachable !== undefined) return unknown(check, 'it was not reached');
  const { active, kind } = protection;
  if (active) return ok(check, kind === 'kube-apiserver' ? 'native mixed version proxy' : kind);
  if (active === undefined) return unknown(check, 'neither its health checks nor its metrics are shown to this user');
  return fail(
    check,
    `${kindText(protection)}: what it does not serve itself is a 404`,
    kind === 'kube-apiserver' ? NATIVE_MEND : 'Mend the gate or the peer CA as said in the lines below.',
  );
}

function gate({ unreachable, metricsRefusal }: EndpointReading, { gateOn, kind }: Protection): Finding {
  const check = 'gate';
  if (gateOn) return ok(check, `${GATE} is on`);
  if (gateOn === undefined)
    return unknown(check, unreachable === undefined ? (metricsRefusal ?? 'its metrics lack it') : 'it was not reached');
  return fail(
    check,
    `${GATE} is off`,
    kind === 'kube-apiserver'
      ? `Start it with --feature-gates=${GATE}=true (from 1.28; the default from 1.36), or put \`straddle proxy\` before it.`
      : `Start it without --feature-gates=${GATE}=false.`,
  );
}

function peerCa({ unreachable }: EndpointReading, { peerCaGiven, gateOn, kind }: Protection): Finding {
  const check = 'peer-ca';
  if (peerCaGiven) return ok(check, '--peer-ca-file is given');
  if (peerCaGiven === undefined) {
    const why = gateOn === false ? 'shows only once the gate is on' : 'neither its health checks nor its pod show it';
    return unknown(check, unreachable === undefined ? why : 'it was not reached');
  }
  return fail(
    check,
    '--peer-ca-file is not given',
    `Start ${kind === 'kube-apiserver' ? 'it' : 'its Straddle'} with --peer-ca-file, the CA of all servers' serving certificates (kubeadm: /etc/kubernetes/pki/ca.crt).`,
  );
}
