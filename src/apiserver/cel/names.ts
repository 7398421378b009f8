/** Words that cannot be names in an expression. Kubernetes lets rules say `__namespace__` for them. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/**
 * A property's name as expressions have to write it: `a-b` is `a__dash__b`. Undefined for names that expressions cannot
 * reach at all.
 */
export function escapeName(name: string): string | undefined {
  if (name === '' || /^\d/.test(name) || /[^A-Za-z0-9_./-]/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => `__${ESCAPES[part]}__`);
}

const ESCAPES: Readonly<Record<string, string>> = { __: 'underscores', '.': 'dot', '-': 'dash', '/': 'slash' };
