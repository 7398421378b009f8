import { ageText } from '../../base/age-text.js';
import { type Cell, columns, heads } from './columns.js';
import { switchedOffText } from './protection.js';
import type { LeaseStatus, PeerStatus, ServerStatus, StatusReport } from './status-report.js';
import { notesText, PLAIN_LOOK, sentenceText, type TextLook } from './text-look.js';

const HEADS = ['NAME', 'KIND', 'VERSION', 'HEALTH', 'UPTIME', 'LEASE', 'PEERS', 'REROUTES', 'SURFACE'];
const WIDE_HEADS = ['ADDRESS', '404S PREVENTED', 'HELD BACK', 'DEPARTED', 'CERTIFICATE UNTIL'];

export function statusText({ door, servers, notes }: StatusReport, wide: boolean, look: TextLook = PLAIN_LOOK): string {
  const rows = servers.map((server): Cell[] => [
    server.name,
    kindCell(server),
    versionText(server),
    healthCell(server, wide),
    server.uptimeSeconds === null ? '-' : ageText(server.uptimeSeconds * 1_000),
    leaseCell(server.lease),
    peersCell(server.peers, wide),
    numberText(server.reroutes),
    server.surfaceAgeSeconds === null ? '-' : ageText(server.surfaceAgeSeconds * 1_000),
    ...(wide
      ? [
          server.address ?? '-',
          numberText(server.wrong404sPrevented),
          numberText(server.heldBack),
          numberText(server.departedServers),
          server.certificateExpires?.slice(0, 10) ?? '-',
        ]
      : []),
  ]);
  const table = columns([heads(wide ? [...HEADS, ...WIDE_HEADS] : HEADS), ...rows], look);
  const tail = (wide ? '' : reasonsText(servers, look)) + passthroughText(servers, look) + notesText(notes, look);
  return `${table}${tail === '' ? '' : `\n${tail}`}\n${sentenceText(`Asked through ${door}.`, look, 'quiet')}`;
}

/** Reasons do not fit into a column; they follow the table. */
function reasonsText(servers: readonly ServerStatus[], look: TextLook): string {
  return servers
    .filter(({ health }) => health.includes(':'))
    .map(({ name, address, health }) => {
      const where = address !== null && address !== name ? ` (${address})` : '';
      return sentenceText(`${name}${where}: ${health}.`, look, healthTone(health));
    })
    .join('');
}

function passthroughText(servers: readonly ServerStatus[], look: TextLook): string {
  return servers
    .filter(({ passthrough }) => passthrough)
    .map(({ name, passthroughSince }) =>
      sentenceText(
        `${name}: ${switchedOffText(passthroughSince)}; straddle passthrough off switches it on.`,
        look,
        'doubt',
      ),
    )
    .join('');
}

function kindCell({ kind, passthrough }: ServerStatus): Cell {
  return { text: kind, tone: passthrough || kind.endsWith(', proxy off') ? 'doubt' : 'plain' };
}

function versionText({ version, emulatedVersion }: ServerStatus): string {
  return `${version ?? '-'}${emulatedVersion === null ? '' : ` (as ${emulatedVersion})`}`;
}

function healthCell({ health }: ServerStatus, wide: boolean): Cell {
  return { text: wide ? health : (health.split(':', 1)[0] ?? ''), tone: healthTone(health) };
}

function healthTone(health: string): 'good' | 'doubt' | 'harm' {
  if (health === 'ready') return 'good';
  return health.startsWith('unknown') ? 'doubt' : 'harm';
}

function numberText(value: number | null): string {
  return value === null ? '-' : String(value);
}

function leaseCell(lease: LeaseStatus | null): Cell {
  if (!lease) return '-';
  const age = lease.ageSeconds === null ? 'never renewed' : ageText(lease.ageSeconds * 1_000);
  return lease.expired ? { text: `${age} (expired)`, tone: 'doubt' } : age;
}

function peersCell(peers: readonly PeerStatus[] | null, wide: boolean): Cell {
  if (peers === null) return '-';
  const usable = peers.filter((each) => each.usable).length;
  const tone = usable < peers.length ? 'doubt' : 'plain';
  if (!wide) return { text: `${usable}/${peers.length}`, tone };
  return { text: peers.map((each) => `${each.name}${each.usable ? '' : ' (down)'}`).join(', ') || 'none', tone };
}
