const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** Makes `/version`. Fields in kube-apiserver's order; all are text, also the numbers. */
export function versionDocument(gitVersion: string) {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: minor === '' ? '' : String(Math.max(0, Number(minor) - 1)),
    gitVersion,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    // Clients print this; it names the runtime of the server.
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform: `${process.platform}/${ARCHITECTURES[process.arch] ?? process.arch}`,
  };
}
