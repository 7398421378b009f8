import type { EndpointReading } from '../endpoint-reading.js';
import { GATE, kindText, type Protection, switchedOffSince, switchedOffText } from '../protection.js';
import { type Finding, fail, ok, unknown, warn } from './check-line.js';

const NATIVE_MEND = `Start kube-apiserver with --feature-gates=${GATE}=true (the default from 1.36) and --peer-ca-file, or put \`straddle proxy\` before it.`;

/** Checks which proxy protects clients of this address, and its settings. */
export function protectionFindings(reading: EndpointReading, protection: Protection): Finding[] {
  return [
    protectedBy(reading, protection),
    gate(reading, protection),
    peerCa(reading, protection),
    ...flagFindings(reading, protection),
  ];
}

/** Findings about a kube-apiserver that serves /flagz (1.36 and later, or with ComponentFlagz). */
function flagFindings({ zpages }: EndpointReading, { kind }: Protection): Finding[] {
  const check = 'flags';
  if (kind !== 'kube-apiserver') return [];
  const { page, refusal } = zpages.flagz;
  if (refusal !== undefined) return [unknown(check, refusal)];
  if (!page) return [];
  const reconciler = page.get('endpoint-reconciler-type');
  if (reconciler === 'none') {
    const detail = '--endpoint-reconciler-type=none: it is not in the EndpointSlice of Service kubernetes';
    return [
      warn(check, detail, 'Peers find it by its lease, its pod or --peer only; see that one of them has its address.'),
    ];
  }
  return [ok(check, 'read from /flagz')];
}

function protectedBy({ unreachable }: EndpointReading, protection: Protection): Finding {
  const check = 'protection';
  if (unreachable !== undefined) return unknown(check, 'it was not reached');
  const { active, kind, passthrough } = protection;
  if (passthrough) {
    return fail(
      check,
      `${kind}: ${switchedOffText(switchedOffSince(protection))}`,
      'Switch it on again when the reason is gone: straddle passthrough off.',
    );
  }
  if (active) return ok(check, kind === 'kube-apiserver' ? 'native mixed version proxy' : kind);
  if (active === undefined) return unknown(check, 'neither its health checks nor its metrics are shown to this user');
  const { gateOn, peerCaGiven } = protection;
  const half = kind === 'kube-apiserver' && gateOn === true && peerCaGiven === false;
  const why = half ? 'the gate is on, but without --peer-ca-file native protection is off' : kindText(protection);
  return fail(
    check,
    `${why}: what it does not serve itself is a 404`,
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
