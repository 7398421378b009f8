import type { Json } from '../../../kube/json.js';

/** What a webhook does when it is called. `$UID` in a body is the uid of the review it got. */
export interface HookAnswer {
  readonly status?: number;
  readonly contentType?: string;
  readonly body?: Json;
  /** In place of `body`, as it is. */
  readonly text?: string;
  /** Closes the connection, or never answers. */
  readonly instead?: 'close' | 'hang';
}

export interface HookCase {
  readonly name: string;
  readonly mutating?: boolean;
  readonly answer?: HookAnswer;
  /** In place of a server that answers. */
  readonly server?: 'closed' | 'wrong-ca' | 'wrong-name' | 'missing-service';
  /** Members of the webhook beside the usual ones. */
  readonly webhook?: { readonly [key: string]: Json };
}

const review = (response: Json, apiVersion = 'admission.k8s.io/v1'): HookAnswer => ({
  body: { apiVersion, kind: 'AdmissionReview', response },
});

const denied = (status: Json): HookAnswer => review({ uid: '$UID', allowed: false, status });

const patched = (patch: Json, more: { readonly [key: string]: Json } = {}): HookAnswer =>
  review({
    uid: '$UID',
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(typeof patch === 'string' ? patch : JSON.stringify(patch)).toString('base64'),
    ...more,
  });

/** Asked of a real kube-apiserver by test/real/record-webhooks.ts, and of ours by the tests; answers must be the same. */
export const HOOK_CASES: readonly HookCase[] = [
  { name: 'allowed', answer: review({ uid: '$UID', allowed: true, warnings: ['mind the gap', 'second'] }) },
  { name: 'denied-message', answer: denied({ message: 'not today', code: 403 }) },
  { name: 'denied-bare', answer: review({ uid: '$UID', allowed: false }) },
  { name: 'denied-reason', answer: denied({ reason: 'Forbidden' }) },
  {
    name: 'denied-details',
    answer: denied({
      status: 'Success',
      code: 422,
      reason: 'Invalid',
      message: 'bad',
      details: { name: 'x', kind: 'K', causes: [{ reason: 'FieldValueInvalid', message: 'no', field: 'data' }] },
    }),
  },
  { name: 'denied-low-code', answer: denied({ message: 'strange', code: 200 }) },
  { name: 'denied-teapot', answer: denied({ message: 'short and stout', code: 418, reason: 'Teapot' }) },
  { name: 'wrong-uid', answer: review({ uid: 'someone-else', allowed: true }) },
  { name: 'no-response', answer: { body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } } },
  { name: 'other-version', answer: review({ uid: '$UID', allowed: true }, 'admission.k8s.io/v1beta1') },
  { name: 'unknown-version', answer: review({ uid: '$UID', allowed: true }, 'admission.k8s.io/v9') },
  { name: 'other-kind', answer: { body: { apiVersion: 'v1', kind: 'ConfigMap', response: { uid: '$UID' } } } },
  { name: 'no-kind', answer: { body: { response: { uid: '$UID', allowed: true } } } },
  { name: 'status-object', answer: { body: { apiVersion: 'v1', kind: 'Status', status: 'Failure', message: 'oops' } } },
  { name: 'plain-500', answer: { status: 500, contentType: 'text/plain', text: 'it broke\n' } },
  { name: 'plain-404', answer: { status: 404, contentType: 'text/plain', text: '404 page not found\n' } },
  { name: 'plain-403', answer: { status: 403, contentType: 'text/plain', text: 'keep out' } },
  { name: 'plain-418', answer: { status: 418, contentType: 'text/plain', text: 'teapot' } },
  { name: 'json-500', answer: { status: 500, body: { error: 'it broke' } } },
  {
    name: 'status-400',
    answer: {
      status: 400,
      body: { apiVersion: 'v1', kind: 'Status', status: 'Failure', message: 'bad review', code: 400 },
    },
  },
  { name: 'empty', answer: { text: '' } },
  { name: 'html', answer: { contentType: 'text/html', text: '<p>hello</p>' } },
  { name: 'garbage', answer: { text: 'not json' } },
  { name: 'cut-json', answer: { text: '{"kind":"AdmissionReview"' } },
  { name: 'closed-connection', answer: { instead: 'close' } },
  { name: 'timeout', answer: { instead: 'hang' }, webhook: { timeoutSeconds: 1 } },
  { name: 'ignored-failure', answer: { status: 500, text: 'x' }, webhook: { failurePolicy: 'Ignore' } },
  { name: 'ignored-denial', answer: denied({ message: 'still no' }), webhook: { failurePolicy: 'Ignore' } },
  { name: 'refused', server: 'closed' },
  { name: 'unknown-authority', server: 'wrong-ca' },
  { name: 'wrong-name', server: 'wrong-name' },
  { name: 'missing-service', server: 'missing-service' },
  { name: 'validating-patch', answer: patched([]) },
  {
    name: 'v1beta1',
    answer: review({ allowed: false, status: { message: 'old style' } }, 'admission.k8s.io/v1beta1'),
    webhook: { admissionReviewVersions: ['v0', 'v1beta1', 'v1'] },
  },
  { name: 'patched', mutating: true, answer: patched([{ op: 'add', path: '/data', value: { a: 'b' } }]) },
  { name: 'patched-empty', mutating: true, answer: patched([]) },
  {
    name: 'v1beta1-patched',
    mutating: true,
    answer: review(
      { allowed: true, patch: Buffer.from('[{"op":"add","path":"/data","value":{"c":"d"}}]').toString('base64') },
      'admission.k8s.io/v1beta1',
    ),
    webhook: { admissionReviewVersions: ['v1beta1'] },
  },
  { name: 'patch-undecodable', mutating: true, answer: patched('{"op":"add"}') },
  { name: 'patch-cut', mutating: true, answer: patched('[{"op":') },
  { name: 'patch-missing-key', mutating: true, answer: patched([{ op: 'remove', path: '/nowhere' }]) },
  { name: 'patch-missing-path', mutating: true, answer: patched([{ op: 'add', path: '/a/b', value: 1 }]) },
  { name: 'patch-test-fails', mutating: true, answer: patched([{ op: 'test', path: '/kind', value: 'Pod' }]) },
  { name: 'patch-unknown-op', mutating: true, answer: patched([{ op: 'shout', path: '/kind' }]) },
  { name: 'patch-bad-object', mutating: true, answer: patched([{ op: 'add', path: '/data', value: 5 }]) },
  { name: 'patch-kind', mutating: true, answer: patched([{ op: 'replace', path: '/kind', value: 'Pod' }]) },
  { name: 'patch-unknown-kind', mutating: true, answer: patched([{ op: 'replace', path: '/kind', value: 'Nothing' }]) },
  { name: 'patch-no-kind', mutating: true, answer: patched([{ op: 'remove', path: '/kind' }]) },
  { name: 'patch-no-type', mutating: true, answer: review({ uid: '$UID', allowed: true, patch: 'W10=' }) },
  { name: 'type-no-patch', mutating: true, answer: review({ uid: '$UID', allowed: true, patchType: 'JSONPatch' }) },
  {
    name: 'patch-other-type',
    mutating: true,
    answer: patched([{ op: 'test', path: '/kind', value: 'ConfigMap' }], { patchType: 'Merge' }),
  },
  { name: 'patch-empty-type', mutating: true, answer: patched([], { patchType: '' }) },
  {
    name: 'mutating-denied',
    mutating: true,
    answer: denied({ message: 'nor tomorrow', code: 400, reason: 'BadRequest' }),
  },
];
