import { createMetrics } from '../../src/base/metric-catalogue.js';
import { promqlNames } from './promql.js';

/** Labels that Prometheus gives to every series of a target. */
const OF_THE_TARGET = ['job', 'instance'];
/** Series that Prometheus makes itself for each target. */
const BY_PROMETHEUS = ['up'];

/** Labels by the name of each series that a page of Straddle can have. */
export function seriesNames(): ReadonlyMap<string, readonly string[]> {
  const names = new Map(BY_PROMETHEUS.map((name) => [name, OF_THE_TARGET] as const));
  for (const { name, kind, labelNames } of createMetrics().registry.declared()) {
    const labels = [...labelNames, ...OF_THE_TARGET];
    if (kind !== 'histogram') names.set(name, labels);
    else {
      for (const suffix of ['_sum', '_count']) names.set(`${name}${suffix}`, labels);
      names.set(`${name}_bucket`, [...labels, 'le']);
    }
  }
  return names;
}

/**
 * Returns a sentence for each series or label in the expression that no page of Straddle has. `shown` are further labels that
 * somebody shows of its result, in a legend or an annotation.
 */
export function unknownNames(expression: string, shown: readonly string[] = []): string[] {
  const known = seriesNames();
  const { metrics, grouping } = promqlNames(expression);
  const problems: string[] = [];
  const available = new Set<string>();
  for (const { name, labels } of metrics) {
    const declared = known.get(name);
    if (declared === undefined) problems.push(`no metric ${name}`);
    for (const label of declared ?? []) available.add(label);
    for (const label of labels) if (declared?.includes(label) === false) problems.push(`${name} has no label ${label}`);
  }
  if (metrics.length === 0) problems.push(`no metric in ${expression}`);
  for (const label of [...grouping, ...shown]) {
    if (!available.has(label)) problems.push(`no metric of the expression has the label ${label}`);
  }
  return problems;
}
