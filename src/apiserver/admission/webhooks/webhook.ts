import { number, objects, text, texts } from '../../../kube/fields.js';
import { isObject, type Json, type JsonObject, objectMember } from '../../../kube/json.js';
import { nameOf } from '../../../kube/metadata-of.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import { type LabelSelector, type LabelSelectorObject, labelSelectorFromObject } from '../../select/label-selector.js';
import type { MatchConditionCheck } from './webhook-deps.js';
import type { WebhookRule } from './webhook-rules.js';

/** One entry of a configuration, with the defaults of the API. */
export interface Webhook {
  /** Unique; names need not be. */
  readonly uid: string;
  readonly name: string;
  readonly rules: readonly WebhookRule[];
  readonly matchPolicy: string;
  readonly failurePolicy: string;
  readonly sideEffects: string | undefined;
  readonly reinvocationPolicy: string;
  readonly timeoutSeconds: number;
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: JsonObject;
  /** Throws SelectorError if malformed. Parsed once. */
  readonly namespaceSelector: () => LabelSelector;
  readonly objectSelector: () => LabelSelector;
  readonly matchConditions: readonly (() => MatchConditionCheck)[];
}

type ConfigurationResource = 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations';

type Compile = (expression: string) => MatchConditionCheck;

/** Returns the webhooks of all configurations, sorted by their names; parsed once per change. */
export function webhookSource(
  stored: ObjectReader,
  resource: ConfigurationResource,
  compile: Compile,
): () => readonly Webhook[] {
  const what = { group: 'admissionregistration.k8s.io', resource };
  let read: readonly Webhook[] | undefined;
  stored.onChange(what, () => {
    read = undefined;
  });
  return () => {
    if (read === undefined) {
      const byName = stored
        .list(what)
        .map((configuration) => ({ name: nameOf(configuration), configuration }))
        .sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
      read = byName.flatMap(({ name, configuration }) => webhooksOf(name, configuration, compile));
    }
    return read;
  };
}

function webhooksOf(configurationName: string, configuration: JsonObject, compile: Compile): Webhook[] {
  const seen = new Map<string, number>();
  return objects(configuration, 'webhooks').map((each) => {
    const name = text(each, 'name');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return parseWebhook(`${configurationName}/${name}/${count}`, name, each, compile);
  });
}

function parseWebhook(uid: string, name: string, webhook: JsonObject, compile: Compile): Webhook {
  return {
    uid,
    name,
    rules: objects(webhook, 'rules').map(parseRule),
    matchPolicy: optionalText(webhook['matchPolicy']) ?? 'Equivalent',
    failurePolicy: optionalText(webhook['failurePolicy']) ?? 'Fail',
    sideEffects: optionalText(webhook['sideEffects']),
    reinvocationPolicy: optionalText(webhook['reinvocationPolicy']) ?? 'Never',
    timeoutSeconds: number(webhook, 'timeoutSeconds') ?? 10,
    admissionReviewVersions: texts(webhook, 'admissionReviewVersions'),
    clientConfig: objectMember(webhook, 'clientConfig'),
    namespaceSelector: once(() => parseSelector(webhook['namespaceSelector'])),
    objectSelector: once(() => parseSelector(webhook['objectSelector'])),
    matchConditions: objects(webhook, 'matchConditions').map((condition) =>
      once(() => compile(text(condition, 'expression'))),
    ),
  };
}

function parseRule(rule: JsonObject): WebhookRule {
  return {
    operations: texts(rule, 'operations'),
    apiGroups: texts(rule, 'apiGroups'),
    apiVersions: texts(rule, 'apiVersions'),
    resources: texts(rule, 'resources'),
    scope: optionalText(rule['scope']) ?? '*',
  };
}

/** Both selectors default to the empty one, which matches everything. */
function parseSelector(selector: Json | undefined): LabelSelector {
  return isObject(selector) ? labelSelectorFromObject(selector as unknown as LabelSelectorObject) : [];
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function optionalText(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
