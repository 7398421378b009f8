/** Words that cannot be names in an expression. Rules write them as `__namespace__`. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/**
 * The name of a property in expressions: `a-b` is `a__dash__b`. Undefined for names that expressions
 * cannot use.
 */
export function escapeName(name: string): string | undefined {
  if (name === '' || /^\d/.test(name) || /[^A-Za-z0-9_./-]/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => `__${ESCAPES[part]}__`);
}

const ESCAPES: Readonly<Record<string, string>> = { __: 'underscores', '.': 'dot', '-': 'dash', '/': 'slash' };
