import { camelCase, type Flag, placeholder, REPEATABLE_KINDS, SECTIONS } from './flag.js';
import { ALL_FLAGS } from './flags.js';

const HEAD = `# Flags of \`straddle proxy\` and \`straddle apiserver\`

<!-- Generated from the table of flags in src/compose/config; \`npx vitest run src/compose/config -u\` writes it again. -->

Each flag can be given on the command line or, under the same name without the dashes or in camelCase, in the YAML file
that \`--config\` names. The command line wins over the file, the file over the static pod of a kube-apiserver
(\`/etc/kubernetes/manifests/kube-apiserver.yaml\`), that over \`apiServer.extraArgs\` of a kubeadm \`ClusterConfiguration\`, and that
over the defaults. Flags that kube-apiserver has too mean the same here, so they can be copied; underscores count as dashes.

- Durations are written as Go writes them: \`500ms\`, \`30s\`, \`1h30m\`. Sizes: \`65536\`, \`64KiB\`, \`1MiB\`.
- Lists take commas, and their flags can be repeated; in YAML they can be lists.

\`\`\`yaml
# straddle.yaml
upstream: https://127.0.0.1:7443
peer-ca-file: /etc/kubernetes/pki/ca.crt
peerSources: [leases, endpoints]
feature-gates:
  UnknownVersionInteroperabilityProxy: true
---
# A kubeadm file works too. Before v1beta4, extraArgs is a mapping.
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
apiServer:
  extraArgs:
    - name: client-ca-file
      value: /etc/kubernetes/pki/ca.crt
\`\`\`
`;

/** Returns docs/reference/flags.md; a test compares it with the committed page. */
export function flagsReference(): string {
  const sections = SECTIONS.map((section) => {
    const flags = ALL_FLAGS.filter((flag) => flag.section === section);
    return `\n## ${section}\n\n${flags.map(entry).join('\n')}`;
  });
  return HEAD + sections.join('');
}

function entry(flag: Flag): string {
  const lines = [
    `### \`${flag.short ? `-${flag.short}` : `--${flag.name}`}\``,
    '',
    flag.description,
    '',
    `- Value: \`${placeholder(flag)}\`${REPEATABLE_KINDS.has(flag.kind) ? ', repeatable' : ''}${boundsOf(flag)}`,
    `- Default: ${defaultOf(flag)}`,
  ];
  if (flag.aliases) lines.push(`- Also: ${flag.aliases.map((alias) => `\`--${alias}\``).join(', ')}`);
  if (camelCase(flag.name) !== flag.name && !flag.commandLineOnly)
    lines.push(`- In YAML: \`${flag.name}\` or \`${camelCase(flag.name)}\``);
  if (flag.onlyFor) lines.push(`- Only for: \`straddle ${flag.onlyFor}\``);
  if (flag.commandLineOnly) lines.push('- On the command line only');
  if (flag.kubeApiserver) lines.push(`- In kube-apiserver: ${flag.kubeApiserver}`);
  lines.push(`- Example: \`${flag.example}\``, '');
  return lines.join('\n');
}

function defaultOf(flag: Flag): string {
  const others = Object.entries(flag.defaultFor ?? {}).map(
    ([command, value]) => `; for \`straddle ${command}\` \`${value}\``,
  );
  return standardOf(flag) + others.join('');
}

function standardOf(flag: Flag): string {
  if (flag.default === '') return 'empty';
  if (flag.default !== undefined) return `\`${flag.default}\``;
  return flag.defaultNote ?? 'none';
}

function boundsOf(flag: Flag): string {
  if (flag.min === undefined || flag.max === undefined || flag.kind === 'duration') return '';
  return flag.min === flag.max ? '' : `, ${flag.min} to ${flag.max}`;
}
