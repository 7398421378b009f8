import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';

export const RULES_FILE = fileURLToPath(new URL('../../deploy/prometheus/straddle-alerts.yaml', import.meta.url));

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

export function alertRules(): readonly AlertRule[] {
  const { groups } = load(readFileSync(RULES_FILE, 'utf8')) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

const LABEL_IN_TEMPLATE = /\{\{ \$labels\.(\w+) \}\}/g;

/** Labels that an annotation shows. */
export function labelsShown({ annotations }: AlertRule): string[] {
  return Object.values(annotations).flatMap((text) => [...text.matchAll(LABEL_IN_TEMPLATE)].map(([, label]) => label!));
}

/** The annotations as Prometheus writes them for an alert with these labels. */
export function annotationsFor({ annotations }: AlertRule, labels: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(annotations).map(([name, text]) => [
      name,
      text.replace(LABEL_IN_TEMPLATE, (_, label: string) => labels[label] ?? ''),
    ]),
  );
}
