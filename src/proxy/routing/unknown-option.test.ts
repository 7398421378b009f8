import { describe, expect, it } from 'vitest';
import { ask } from './routing.fixture.js';
import { hasVersionedOption, isUnknownOption } from './unknown-option.js';

/** Messages of kube-apiserver 1.33 to 1.37. */
const REFUSALS: readonly (readonly [target: string, code: number, message: string])[] = [
  [
    '/apis/apps/v1/deployments?fieldSelector=spec.foo%3Dx',
    400,
    '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  ['/api/v1/pods?fieldSelector=spec.foo%3Dx', 400, 'field label not supported: spec.foo'],
  ['/apis/batch/v1/jobs?watch=1&fieldSelector=spec.foo%3Dx', 400, 'field label "spec.foo" not supported for Job'],
  [
    '/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.foo%3Dx',
    400,
    'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.foo',
  ],
  [
    '/api/v1/pods?includeObject=Everything',
    400,
    `Unable to convert to Table as requested: includeObject: Invalid value: "Everything": must be 'Metadata', 'Object', 'None', or empty`,
  ],
  [
    '/api/v1/pods?resourceVersion=1&resourceVersionMatch=Newest',
    422,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
  ],
  [
    '/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    422,
    'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
  ],
  [
    '/api/v1/namespaces/x/pods/p/log?stream=Stdout',
    422,
    'PodLogOptions "p" is invalid: stream: Forbidden: may not be specified',
  ],
];

const refusal = (code: number, message: string) => ({
  code,
  message,
  reason: code === 400 ? 'BadRequest' : 'Invalid',
  hasDetails: code === 422,
});

describe('isUnknownOption', () => {
  it.each(REFUSALS)('returns true for the refusal of GET %s', (target, code, message) => {
    const exchange = ask('GET', target);
    expect(hasVersionedOption(exchange)).toBe(true);
    expect(isUnknownOption(exchange, refusal(code, message))).toBe(true);
  });

  it('reads the name of an option that is percent-encoded', () => {
    const exchange = ask('GET', '/api/v1/pods?field%53elector=a%3Db');
    expect(hasVersionedOption(exchange)).toBe(true);
    expect(isUnknownOption(exchange, refusal(400, 'field label not supported: a'))).toBe(true);
  });

  it.each([
    ['of bad syntax', 400, `invalid selector: 'spec.foo'; can't understand 'spec.foo'`],
    ['that repeats the words', 400, `invalid selector: 'field label not supported: a'; can't understand 'a'`],
    ['of a name', 400, "fieldSelector metadata.name doesn't match requested name"],
    ['with words after it', 400, 'field label "a" not supported for Job and more'],
    ['with another code', 422, 'field label not supported: a'],
    [
      'of a combination',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
  ])('returns false for a refusal %s', (_, code, message) => {
    const target = '/api/v1/pods?fieldSelector=a%3Db&resourceVersionMatch=Exact';
    expect(isUnknownOption(ask('GET', target), refusal(code, message))).toBe(false);
  });

  it('returns false for an option that the request does not have, and for another reason', () => {
    const message = 'field label not supported: a';
    expect(isUnknownOption(ask('GET', '/api/v1/pods?labelSelector=a'), refusal(400, message))).toBe(false);
    const expired = { ...refusal(400, message), reason: 'Expired' };
    expect(isUnknownOption(ask('GET', '/api/v1/pods?fieldSelector=a%3Db'), expired)).toBe(false);
  });
});

describe('hasVersionedOption', () => {
  it.each([
    ['DELETE', '/api/v1/pods?fieldSelector=a%3Db'],
    ['HEAD', '/api/v1/pods?fieldSelector=a%3Db'],
    ['POST', '/api/v1/pods?fieldSelector=a%3Db'],
    ['GET', '/api/v1/pods'],
    ['GET', '/api/v1/pods?labelSelector=fieldSelector'],
    ['GET', '/healthz?fieldSelector=a%3Db'],
    ['GET', '/api/v1/proxy/namespaces/x/pods/p/a?fieldSelector=a%3Db'],
  ])('returns false for %s %s', (method, target) => {
    expect(hasVersionedOption(ask(method, target))).toBe(false);
  });

  it('returns false for an upgrade', () => {
    expect(hasVersionedOption(ask('GET', '/api/v1/pods?fieldSelector=a%3Db', null, true))).toBe(false);
  });
});
