import type { EndpointReading } from '../endpoint-reading.js';
import { GATE, kindText, type Protection } from '../protection.js';
import type { Finding } from './check-line.js';

const NATIVE_MEND = `Start kube-apiserver with --feature-gates=${GATE}=true (the default from 1.36) and --peer-ca-file, or put \`straddle proxy\` before it.`;

/** Who protects, and whether all that it takes was given. */
export function protectionFindings(reading: EndpointReading, protection: Protection): Finding[] {
  return [protectedBy(reading, protection), gate(reading, protection), peerCa(reading, protection)];
}

function protectedBy({ unreachable }: EndpointReading, protection: Protection): Finding {
  const check = 'protection';
  if (unreachable !== undefined) return { check, verdict: 'unknown', detail: 'it was not reached' };
  const { active, kind } = protection;
  if (active) return { check, verdict: 'ok', detail: kind === 'kube-apiserver' ? 'native mixed version proxy' : kind };
  if (active === undefined)
    return { check, verdict: 'unknown', detail: 'neither its health checks nor its metrics are shown to this user' };
  return {
    check,
    verdict: 'FAIL',
    detail: `${kindText(protection)}: what it does not serve itself is a 404`,
    mend: kind === 'kube-apiserver' ? NATIVE_MEND : 'Mend the gate or the peer CA as said in the lines below.',
  };
}

function gate({ unreachable, metricsRefusal }: EndpointReading, { gateOn, kind }: Protection): Finding {
  const check = 'gate';
  if (gateOn) return { check, verdict: 'ok', detail: `${GATE} is on` };
  if (gateOn === undefined) {
    const why = unreachable === undefined ? (metricsRefusal ?? 'its metrics do not tell') : 'it was not reached';
    return { check, verdict: 'unknown', detail: why };
  }
  return {
    check,
    verdict: 'FAIL',
    detail: `${GATE} is off`,
    mend:
      kind === 'kube-apiserver'
        ? `Start it with --feature-gates=${GATE}=true (from 1.28; the default from 1.36), or put \`straddle proxy\` before it.`
        : `Start it without --feature-gates=${GATE}=false.`,
  };
}

function peerCa({ unreachable }: EndpointReading, { peerCaGiven, gateOn, kind }: Protection): Finding {
  const check = 'peer-ca';
  if (peerCaGiven) return { check, verdict: 'ok', detail: '--peer-ca-file is given' };
  if (peerCaGiven === undefined) {
    const why = gateOn === false ? 'shows only once the gate is on' : 'neither its health checks nor its pod tell';
    return { check, verdict: 'unknown', detail: unreachable === undefined ? why : 'it was not reached' };
  }
  return {
    check,
    verdict: 'FAIL',
    detail: '--peer-ca-file is not given',
    mend: `Start ${kind === 'kube-apiserver' ? 'it' : 'its Straddle'} with --peer-ca-file, the CA of all servers' serving certificates (kubeadm: /etc/kubernetes/pki/ca.crt).`,
  };
}
