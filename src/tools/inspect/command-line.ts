/**
 * Flags of a command line as it stands in a pod. `--name=value`, `--name value` and the bare `--name` of a switch; of two
 * with one name the last counts, as it does for the program.
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

/** `UnknownVersionInteroperabilityProxy=true,Other=false` → whether that gate was set, and how. */
export function gateInFlags(flags: ReadonlyMap<string, string>, gate: string): boolean | undefined {
  for (const entry of (flags.get('feature-gates') ?? '').split(',')) {
    const [name = '', value] = entry.split('=');
    // Kubernetes 1.31 and later may name the component first.
    if (name.trim().replace(/^.*:/, '') === gate) return value?.trim().toLowerCase() === 'true';
  }
  return undefined;
}
