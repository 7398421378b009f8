import { ConfigError } from '../../compose/config/config-error.js';
import { proxyArguments, type Sidecar, STATE_DIR } from './sidecar.js';

/** Longer than --shutdown-grace, as for the pod. */
const STOP_SECONDS = 45;

/**
 * Returns a systemd unit for a Straddle without a container. It runs as the owner of the keys, sees of the certificate folders only
 * the files that it needs, and may write to its state folder only.
 */
export function systemdUnit(sidecar: Sidecar, program: string): string {
  const words = ['proxy', ...proxyArguments(sidecar, `\${NODE_IP}`)].map(escaped);
  const folders = [...new Set(sidecar.files.map(({ path }) => path.slice(0, path.lastIndexOf('/'))))];
  const { runAs, port } = sidecar;
  refuseUnusualPaths([program, ...sidecar.files.flatMap(({ path, hostPath }) => [path, hostPath])]);
  const lines = [
    '[Unit]',
    'Description=Straddle, the mixed version proxy in front of the kube-apiserver of this machine',
    'After=network-online.target',
    'Wants=network-online.target',
    '# Without a limit systemd goes on trying, however fast a start fails.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    ...(sidecar.host === undefined
      ? ['# NODE_IP=10.0.0.1, the address of this machine', 'EnvironmentFile=/etc/default/straddle']
      : []),
    `ExecStart=${[withoutSpecifiers(program), ...words].join(' \\\n  ')}`,
    'Restart=always',
    'RestartSec=1',
    '# The head process passes the signal on to the processes of --workers.',
    'KillMode=mixed',
    `TimeoutStopSec=${STOP_SECONDS}`,
    'LimitNOFILE=65536',
    ...(runAs ? [`User=${runAs.user}`, `Group=${runAs.group}`] : []),
    `StateDirectory=${STATE_DIR.slice('/var/lib/'.length)}`,
    'StateDirectoryMode=0700',
    '# Root without capabilities reads what root owns: kubeadm writes keys for their owner only.',
    `CapabilityBoundingSet=${port < 1024 ? 'CAP_NET_BIND_SERVICE' : ''}`,
    ...(port < 1024 && runAs ? ['AmbientCapabilities=CAP_NET_BIND_SERVICE'] : []),
    'NoNewPrivileges=true',
    'ProtectSystem=strict',
    'ProtectHome=true',
    'PrivateTmp=true',
    'PrivateDevices=true',
    'ProtectKernelTunables=true',
    'ProtectKernelModules=true',
    'ProtectControlGroups=true',
    'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
    'RestrictNamespaces=true',
    'LockPersonality=true',
    ...folders.map((folder) => `TemporaryFileSystem=${withoutSpecifiers(folder)}:ro`),
    ...sidecar.files.map(({ path, hostPath }) => {
      const paths = path === hostPath ? path : `${hostPath}:${path}`;
      return `BindReadOnlyPaths=${withoutSpecifiers(paths)}`;
    }),
    '',
    '[Install]',
    'WantedBy=multi-user.target',
  ];
  return `${lines.join('\n')}\n`;
}

/** Paths have other rules of quoting in each setting of a unit, so those that need quotes are refused. */
function refuseUnusualPaths(paths: readonly string[]): void {
  const unusual = paths.filter((path) => !/^[A-Za-z0-9_./@%+=,-]+$/.test(path));
  if (unusual.length === 0) return;
  throw new ConfigError(
    [...new Set(unusual)].map(
      (path) => `"${path}" has characters that a systemd unit cannot have in a path: use another path.`,
    ),
  );
}

function withoutSpecifiers(path: string): string {
  return path.replaceAll('%', '%%');
}

/** Quotes a word of ExecStart, whose control characters would end the line; `%` begins a specifier, and `$` a variable except in NODE_IP's own. */
function escaped(word: string): string {
  const text = word.replaceAll('%', '%%').replace(/\$(?!\{NODE_IP\})/g, '$$$$');
  if (/^[A-Za-z0-9_./:=,@%$+{}[\]-]+$/.test(text)) return text;
  const quoted = text.replace(/["\\]/g, '\\$&').replace(/[\x00-\x1f\x7f]/g, (each) => `\\x${hexOf(each)}`);
  return `"${quoted}"`;
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(2, '0');
}
