import type { JsonObject } from '../../kube/json.js';

/** Which requests a webhook is asked about; see `rules` of a webhook configuration. */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT' | '*')[];
  readonly resources: readonly string[];
  readonly scope?: 'Cluster' | 'Namespaced' | '*';
}

/** The `request` of an AdmissionReview of `admission.k8s.io/v1`. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly userInfo: { readonly username: string; readonly uid?: string; readonly groups?: readonly string[] };
  // biome-ignore lint/suspicious/noExplicitAny: objects of any kind, whose types the test knows.
  readonly object: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly oldObject: any;
  readonly dryRun?: boolean;
}

/** The answer in full. */
export interface AdmissionAnswer {
  /** Default: true. */
  readonly allowed?: boolean;
  /** Of a refusal. */
  readonly message?: string;
  /** Of a refusal. Default: 403. */
  readonly code?: number;
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  /** Of a mutating webhook: the object as it shall be. */
  readonly object?: object;
  /** Of a mutating webhook, in place of `object`: a JSON patch. */
  readonly patch?: readonly object[];
}

/** True, false, the message of a refusal, or the answer in full. Nothing is the same as true. */
export type AdmissionVerdict = boolean | string | AdmissionAnswer | undefined;

/** A webhook whose handler is a function of the test. The library serves it over TLS and creates its configuration. */
export interface WebhookOption {
  /** Of the webhook and of its configuration: `widgets.example.com`. */
  readonly name: string;
  /** Default: `validating`. */
  readonly type?: 'validating' | 'mutating';
  readonly rules: readonly WebhookRule[];
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler need not return.
  readonly handler: (request: AdmissionRequest) => AdmissionVerdict | void | Promise<AdmissionVerdict | void>;
  /** Default: `Fail`. */
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  readonly namespaceSelector?: object;
  readonly objectSelector?: object;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
  readonly timeoutSeconds?: number;
  /** Default: `None`. */
  readonly sideEffects?: 'None' | 'NoneOnDryRun';
}

/** Returns the path of the collection and the configuration of a webhook at this address. */
export function webhookConfiguration(
  { name, type = 'validating', handler: _, ...rest }: WebhookOption,
  { url, ca }: { readonly url: string; readonly ca: string },
): { readonly collection: string; readonly object: JsonObject } {
  const kind = type === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
  const webhook = {
    sideEffects: 'None',
    ...rest,
    name,
    clientConfig: { url, caBundle: Buffer.from(ca).toString('base64') },
    admissionReviewVersions: ['v1'],
  };
  const object = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, webhooks: [webhook] };
  return {
    collection: `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s`,
    object: JSON.parse(JSON.stringify(object)) as JsonObject,
  };
}
