import { dump, load } from 'js-yaml';
import { ConfigError } from '../../compose/config/config-error.js';
import { cloneJson, isObject, type Json, type JsonObject, jsonEqual, objectMember } from '../../kube/json.js';
import type { ApiServerManifest, ProbeName } from './api-server-manifest.js';

/** The argument that moves a kube-apiserver to loopback. The last one of a repeated flag counts. */
export function bindArgument({ loopback }: Pick<ApiServerManifest, 'loopback'>): string {
  return `--bind-address=${loopback.host}`;
}

/**
 * Returns the manifest of a kube-apiserver that listens on loopback and is probed there. kubeadm writes the same text when it
 * applies the patches of `kubeadmPatches` to the manifest that it generates.
 */
export function movedBehind(manifest: ApiServerManifest): string {
  const argument = bindArgument(manifest);
  const lines = manifest.text.split('\n');
  const command = commandLines(lines);
  if (command) lines.splice(command.end, 0, `${command.indent}- ${argument}`);
  for (const probe of manifest.probes) setProbeHost(lines, probe, manifest.loopback.host);
  const expected = changedPod(manifest, (words) => [...words, argument], manifest.loopback.host);
  return textOf(lines, manifest, expected);
}

/** Returns the manifest as it would be without `movedBehind`, also of one that kubeadm has generated since. */
export function movedBack(manifest: ApiServerManifest): string {
  const argument = bindArgument(manifest);
  const without = (words: Json[]) =>
    words.filter((word, index) => word !== argument || index !== words.lastIndexOf(word));
  const lines = manifest.text.split('\n');
  const command = commandLines(lines);
  if (command) {
    const at = lines.slice(0, command.end).lastIndexOf(`${command.indent}- ${argument}`);
    if (at > command.start) lines.splice(at, 1);
  }
  for (const probe of manifest.probes) setProbeHost(lines, probe, manifest.node.host);
  return textOf(lines, manifest, changedPod(manifest, without, manifest.node.host));
}

/** Plain words that YAML 1.1, which the kubelet reads, takes for a boolean or an octal number, and YAML 1.2 does not. */
const READ_OTHERWISE = /(?:[:[{,]|^\s*-)\s+(y|yes|n|no|on|off|[-+]?0[0-9_]+)\s*(?:[,\]}]|#.*)?$/im;

/** Returns the edited lines if they are what is meant; else, for an unusual layout, the pod written anew. */
function textOf(lines: readonly string[], before: ApiServerManifest, expected: JsonObject): string {
  const text = lines.join('\n');
  try {
    const pod = load(text);
    if (isObject(pod) && jsonEqual(pod, expected)) return text;
  } catch {
    // Lines of an unusual layout were cut apart.
  }
  const word = READ_OTHERWISE.exec(before.text)?.[1];
  if (word !== undefined) {
    throw new ConfigError([
      `${before.path} has a layout that kubeadm does not write, and the word ${word}, which could change its meaning: write true, false or a decimal number instead.`,
    ]);
  }
  return yamlText(expected);
}

export function yamlText(document: JsonObject): string {
  return dump(document, { lineWidth: -1, noRefs: true });
}

function changedPod(manifest: ApiServerManifest, change: (words: Json[]) => Json[], probeHost: string): JsonObject {
  const pod = cloneJson(manifest.pod);
  const container = (objectMember(pod, 'spec')['containers'] as JsonObject[])[0]!;
  container['command'] = change(container['command'] as Json[]);
  for (const probe of manifest.probes) objectMember(objectMember(container, probe), 'httpGet')['host'] = probeHost;
  return pod;
}

/** The lines of the first `command:` that is a list of one word a line; `end` is the line after its last word. */
function commandLines(lines: readonly string[]): { start: number; end: number; indent: string } | undefined {
  const start = lines.findIndex((line) => /^\s*(?:- )?command:\s*$/.test(line));
  const indent = /^(\s*)- /.exec(lines[start + 1] ?? '')?.[1];
  if (start < 0 || indent === undefined) return undefined;
  let end = start + 1;
  for (let at = end; at < lines.length; at++) {
    if (lines[at]!.startsWith(`${indent}- `)) end = at + 1;
    else if (!/^\s*(#|$)/.test(lines[at]!)) break;
  }
  return { start, end, indent };
}

function setProbeHost(lines: string[], probe: ProbeName, host: string): void {
  const start = lines.findIndex((line) => line.trim() === `${probe}:`);
  if (start < 0) return;
  const http = lines.findIndex((line, index) => index > start && line.trim() === 'httpGet:');
  const indent = /^(\s*)\S/.exec(lines[http + 1] ?? '')?.[1];
  if (http < 0 || indent === undefined) return;
  const written = `${indent}host: ${plain(host)}`;
  const at = lines.findIndex(
    (line, index) => index > http && (line.startsWith(`${indent}host:`) || !line.startsWith(indent)),
  );
  if (lines[at]?.startsWith(`${indent}host:`)) lines[at] = written;
  else lines.splice(http + 1, 0, written);
}

/** `::1` needs no quotes where kubeadm writes it, since no blank follows a colon; js-yaml agrees. */
function plain(host: string): string {
  return yamlText({ host }).slice('host: '.length).trimEnd();
}
