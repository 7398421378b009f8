import type { Recording } from './recording.js';
import { type AlertRule, annotationsFor, RULES_FILE } from './rules-file.js';

/** An alert that fires, by its labels without `job` and `severity`. */
export interface FiringAlert {
  readonly alert: string;
  readonly [label: string]: string;
}

/** Exactly the alerts that fire at the time of a page. */
export interface Expectation {
  readonly page: number;
  readonly firing: readonly FiringAlert[];
}

/** A page of the recording stands for half a minute, so that a run of minutes is long enough for every `for`. */
const INTERVAL_SECONDS = 30;

/** Returns the input of `promtool test rules` for one recording. */
export function promtoolInput(
  name: string,
  recording: Recording,
  expectations: readonly Expectation[],
  rules: readonly AlertRule[],
) {
  return {
    rule_files: [RULES_FILE],
    evaluation_interval: `${INTERVAL_SECONDS}s`,
    tests: [
      {
        name,
        interval: `${INTERVAL_SECONDS}s`,
        input_series: Object.entries(recording.series).map(([series, values]) => ({
          series,
          values: values.map((value) => value ?? '_').join(' '),
        })),
        alert_rule_test: expectations.flatMap(({ page, firing }) =>
          rules.map((rule) => ({
            eval_time: `${page * INTERVAL_SECONDS}s`,
            alertname: rule.alert,
            exp_alerts: firing.filter(({ alert }) => alert === rule.alert).map((each) => expectedAlert(rule, each)),
          })),
        ),
      },
    ],
  };
}

function expectedAlert(rule: AlertRule, { alert: _, ...labels }: FiringAlert) {
  return {
    exp_labels: { job: 'straddle', severity: rule.labels.severity, ...labels },
    exp_annotations: annotationsFor(rule, labels),
  };
}
