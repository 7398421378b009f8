import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readOutput } from './kubeadm-output.fixture.js';
import { type Sidecar, sidecarOf, sidecarOfAnyNode } from './sidecar.js';
import { systemdUnit } from './systemd-unit.js';

const ANALYZE = 'systemd-analyze';
const hasAnalyze = spawnSync(ANALYZE, ['--version']).status === 0;

/** What `systemd-analyze verify` prints; nothing for a unit without mistakes. */
function verify(unit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'straddle-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'straddle.service');
  writeFileSync(path, unit);
  const { stdout, stderr, status } = spawnSync(ANALYZE, ['verify', '--man=no', path], { encoding: 'utf8' });
  return `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line.includes('straddle.service'))
    .concat(status === 0 ? [] : [`status ${status}`])
    .join('\n');
}

describe('the systemd unit', () => {
  it('starts the proxy with the certificates of the kube-apiserver and shows it nothing else of them', () => {
    const unit = systemdUnit(sidecarOf(readOutput()), '/usr/local/bin/straddle');
    expect(unit).toContain('ExecStart=/usr/local/bin/straddle \\\n  proxy \\\n  --bind-address=10.0.0.1 \\\n');
    expect(unit).toContain('\nTemporaryFileSystem=/etc/kubernetes/pki:ro\n');
    expect(unit).toContain('\nBindReadOnlyPaths=/etc/kubernetes/pki/front-proxy-client.key\n');
    expect(unit).not.toContain('sa.key');
    expect(unit).toContain('\nCapabilityBoundingSet=\n');
    expect(unit.slice(0, unit.indexOf('[Service]'))).toContain('\nStartLimitIntervalSec=0\n');
  });

  it('escapes what systemd would expand', () => {
    const odd: Sidecar = { ...sidecarOf(readOutput()), flags: [['requestheader-allowed-names', 'a b,100%,$x,"q"']] };
    expect(systemdUnit(odd, '/x')).toContain('"--requestheader-allowed-names=a b,100%%,$$x,\\"q\\""');
  });

  it('has no line that a value of the manifest has put there', () => {
    const value = 'a\nExecStartPre=/bin/evil\r\u007f';
    const odd: Sidecar = { ...sidecarOf(readOutput()), flags: [['requestheader-allowed-names', value]] };
    const unit = systemdUnit(odd, '/x');
    expect(unit).not.toMatch(/^ExecStartPre/m);
    expect(unit).toContain('"--requestheader-allowed-names=a\\x0aExecStartPre=/bin/evil\\x0d\\x7f"');
  });

  it('escapes paths, and refuses those that it could not quote', () => {
    const sidecar = sidecarOf(readOutput());
    const at = (path: string): Sidecar => ({ ...sidecar, files: [{ flag: 'tls-cert-file', path, hostPath: path }] });
    expect(systemdUnit(at('/a%b/c'), '/opt/%s')).toContain('\nExecStart=/opt/%%s ');
    expect(systemdUnit(at('/a%b/c'), '/x')).toContain('\nTemporaryFileSystem=/a%%b:ro\nBindReadOnlyPaths=/a%%b/c\n');
    expect(() => systemdUnit(at('/a b/c'), '/x')).toThrow('"/a b/c" has characters');
    expect(() => systemdUnit(at('/a:b/c'), '/x')).toThrow('"/a:b/c" has characters');
    expect(() => systemdUnit(sidecar, '/my programs/straddle')).toThrow('"/my programs/straddle" has characters');
  });

  it.skipIf(!hasAnalyze).each<[string, () => Sidecar]>([
    ['one node', () => sidecarOf(readOutput())],
    ['an IPv6 node', () => sidecarOf(readOutput('1.36-ipv6'))],
    ['any node', sidecarOfAnyNode],
  ])('of %s passes systemd-analyze verify (skipped without that program)', (_, sidecar) => {
    expect(verify(systemdUnit(sidecar(), '/bin/true'))).toBe('');
  });

  it.skipIf(!hasAnalyze)('would fail systemd-analyze verify with a mistake in it', () => {
    expect(verify(systemdUnit(sidecarOfAnyNode(), '/bin/true').replace('Restart=', 'Restrat='))).toContain('Restrat');
  });
});
