/** A way in which Straddle is meant to answer otherwise than kube-apiserver, and the sight in which both are alike. */
interface Deliberate {
  readonly commands: RegExp;
  readonly reason: string;
  alike(text: string): string;
}

export const DELIBERATE: readonly Deliberate[] = [
  {
    commands: /^explain/,
    reason: 'descriptions are in Straddle’s own words, and for the most used kinds only',
    alike: withoutProse,
  },
  {
    commands: /^get .*(clusterrole admin|clusterrole edit|clusterrole view)|^describe clusterrole view/,
    reason: 'aggregated roles are filled in without a controller manager',
    alike: (text) => text.replace(/^(rules:| {2}Resources .*\n)[\s\S]*(?=^exit code)/m, '$1\n'),
  },
  {
    commands: /^get .*role/,
    reason: 'Straddle has rights of its own, to find peers',
    alike: (text) => text.replace(/^.*system:straddle.*\n/gm, ''),
  },
  {
    commands: /^get flowschemas/,
    reason: 'requests are queued fairly by other means, so there is nothing that flow schemas would say',
    alike: (text) => text.replace(/^.*\n/gm, ''),
  },
  {
    commands: /^(create quota|apply .*quota)/,
    reason: 'quotas are stored and not enforced, and a warning says so',
    alike: (text) => text.replace(/^stderr: Warning: this API server stores ResourceQuota .*\n/gm, ''),
  },
  {
    commands: /^(describe service|events|get events)/,
    reason: 'kube-apiserver repairs the allocation of cluster addresses behind writers, and tells of it in events',
    alike: (text) =>
      text
        .replace(/^.*ClusterIPNotAllocated.*\n/gm, '')
        .replace(/^Events:\n(?: {2}(?:Type|----) .*\n)+(?=exit code)/m, 'Events:  <none>\n'),
  },
  {
    commands: /^(patch pod|replace -f pod)/,
    reason: 'what may not change is shown by the names of the API, not by those of kube-apiserver’s own code',
    alike: (text) => text.replace(/(?<=previously negative\)\n)[\s\S]*(?=^exit code)/m, ''),
  },
  {
    commands: /^patch .*--type=merge/,
    reason: 'an object that cannot be read is printed with its members in another order',
    alike: (text) => text.replace(/(patch: Invalid value: )"(?:[^"\\]|\\.)*"/, '$1<object>'),
  },
  {
    commands: /deployment-unknown.yaml --server-side/,
    reason: 'kube-apiserver stops at one of several unknown fields, or does not, by chance',
    alike: (text) => text.replace(/(Kind=Deployment\): )[\s\S]*(?=^exit code)/m, '$1'),
  },
  {
    commands: /widget-bad/,
    reason: 'kube-apiserver tells of several mistakes in a random order',
    alike: (text) => text.replace(/(?:^(?:\*| {2}\.) .*\n)+/gm, (lines) => lines.split('\n').sort().join('\n')),
  },
  {
    commands: /^version -o|^get --raw \/version/,
    reason: 'another program, built elsewhere: commit, date, compiler and platform are its own',
    alike: (text) => text.replace(/^(\s*"?(?:build|compiler|git(?:Commit|TreeState)|go|platform)\w*"?:).*$/gm, '$1'),
  },
];

export function alike(command: string, text: string): string {
  return DELIBERATE.filter(({ commands }) => commands.test(command)).reduce((seen, each) => each.alike(seen), text);
}

const PROSE_INDENT = /^ {4,}/;

/** Names, types, enums and headings stay; indented text below them goes. */
function withoutProse(text: string): string {
  const kept: string[] = [];
  let isDescription = false;
  for (const line of text.split('\n')) {
    if (/^[A-Z]+:/.test(line)) isDescription = line.startsWith('DESCRIPTION:');
    if (line === '' || isDescription) continue;
    if (PROSE_INDENT.test(line) && !/<(?!no description)[^>]+>|enum:/.test(line)) continue;
    kept.push(line);
  }
  return kept.join('\n');
}
