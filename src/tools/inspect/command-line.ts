/**
 * Returns the flags of the command line of a pod: `--name=value`, `--name value`, and `--name` alone for
 * a boolean. The last of several flags of one name counts.
 */
export function commandLineFlags(words: readonly string[]): Map<string, string> {
  const flags = new Map<string, string>();
  words.forEach((word, index) => {
    const [, name, equals, value] = /^--?([a-zA-Z][\w-]*)(=)?([\s\S]*)$/.exec(word) ?? [];
    if (name === undefined) return;
    const next = words[index + 1];
    const given = equals ? value! : next === undefined || next.startsWith('-') ? 'true' : next;
    flags.set(name.replaceAll('_', '-'), given);
  });
  return flags;
}

/** Returns the value of a gate in `--feature-gates`; undefined if it is not set. */
export function gateInFlags(flags: ReadonlyMap<string, string>, gate: string): boolean | undefined {
  for (const entry of (flags.get('feature-gates') ?? '').split(',')) {
    const [name = '', value] = entry.split('=');
    // Kubernetes 1.31 and later may name the component first.
    if (name.trim().replace(/^.*:/, '') === gate) return value?.trim().toLowerCase() === 'true';
  }
  return undefined;
}
