/** What an expression of PromQL asks for: enough to compare it with the metrics that exist. */
export interface PromqlNames {
  readonly metrics: readonly { readonly name: string; readonly labels: readonly string[] }[];
  /** Labels after by, without, on, ignoring, group_left and group_right. */
  readonly grouping: readonly string[];
}

/** A string, a range with its brackets, a number or duration, a name, or one character. */
const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\]|\d[\w.]*|[a-zA-Z_:][\w:]*|[^\s]/g;
const NAME = /^[a-zA-Z_:][\w:]*$/;
const BEFORE_LABELS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const OPERATORS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'atan2', 'start', 'end', 'inf', 'nan']);
const AGGREGATIONS = new Set('sum min max avg count group stddev stdvar topk bottomk quantile count_values'.split(' '));

/** Reads names and labels out of an expression; the expression itself is judged by promtool. */
export function promqlNames(expression: string): PromqlNames {
  const tokens: readonly string[] = expression.match(TOKEN) ?? [];
  const metrics: { name: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    const next = tokens[i + 1];
    if (BEFORE_LABELS.has(token) && next === '(') {
      const end = tokens.indexOf(')', i);
      grouping.push(...tokens.slice(i + 2, end).filter((each) => each !== ','));
      i = end;
    } else if (token === '{') throw new Error(`a selector without a metric name: ${expression}`);
    else if (!NAME.test(token) || OPERATORS.has(token.toLowerCase())) continue;
    else if (next === '{') {
      const end = tokens.indexOf('}', i);
      if (end < 0) throw new Error(`a selector without an end: ${expression}`);
      metrics.push({ name: token, labels: labelsOf(tokens.slice(i + 2, end)) });
      i = end;
    } else if (next !== '(' && !AGGREGATIONS.has(token)) metrics.push({ name: token, labels: [] });
  }
  return { metrics, grouping };
}

/** In `a="x", b=~"y"` the names: the tokens at the begin and after each comma. */
function labelsOf(tokens: readonly string[]): string[] {
  return tokens.filter((token, i) => NAME.test(token) && (i === 0 || tokens[i - 1] === ','));
}
