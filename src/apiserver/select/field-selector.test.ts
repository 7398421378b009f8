import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { fieldSelectorForKind, matchesFields, parseFieldSelector, requiredFieldValue } from './field-selector.js';
import { selectableFieldsOf, selectableFieldsOfCustomResource } from './field-selector-kinds.js';

const POD = { group: '', version: 'v1', kind: 'Pod' };
const JOB = { group: 'batch', version: 'v1', kind: 'Job' };
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const SLICE = { group: 'resource.k8s.io', version: 'v1', kind: 'ResourceSlice' };
const EVENT = { group: 'events.k8s.io', version: 'v1', kind: 'Event' };

function matches(text: string, kind: typeof POD, object: JsonObject): boolean {
  return matchesFields(fieldSelectorForKind(parseFieldSelector(text), kind), object, selectableFieldsOf(kind));
}

describe('parseFieldSelector', () => {
  it.each([
    ['foo', "invalid selector: 'foo'; can't understand 'foo'"],
    ['metadata.name=a,b', "invalid selector: 'metadata.name=a,b'; can't understand 'b'"],
    ['metadata.name=a=b', 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name=a\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('refuses %j with the words of kube-apiserver', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message);
  });

  it('parses escaped values and finds the required value of a field', () => {
    const selector = parseFieldSelector('a=x\\,y\\=z\\\\,b!=2,,c==3');
    expect(selector).toEqual([
      { field: 'a', operator: '=', value: 'x,y=z\\' },
      { field: 'b', operator: '!=', value: '2' },
      { field: 'c', operator: '=', value: '3' },
    ]);
    expect(requiredFieldValue(selector, 'c')).toBe('3');
    expect(requiredFieldValue(selector, 'b')).toBeUndefined();
  });
});

describe('fieldSelectorForKind', () => {
  it.each([
    [POD, 'field label not supported: foo'],
    [CONFIG_MAP, '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    [JOB, 'field label "foo" not supported for Job'],
    [SLICE, 'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: foo'],
  ])('refuses an unknown field of %j with the words of kube-apiserver', (kind, message) => {
    expect(() => fieldSelectorForKind(parseFieldSelector('foo=bar'), kind)).toThrow(message);
  });

  it('does not mistake inherited names for kinds or fields', () => {
    const kind = { group: '', version: 'v1', kind: 'constructor' };
    expect(() => fieldSelectorForKind(parseFieldSelector('toString=x'), kind)).toThrow('not a known field selector');
    expect(() => fieldSelectorForKind(parseFieldSelector('toString=x'), EVENT)).toThrow('not supported');
  });

  it('accepts the selectable fields of a custom resource', () => {
    const selectable = selectableFieldsOfCustomResource('Cluster', ['.spec.color']);
    const kind = { group: 'example.com', version: 'v1', kind: 'Widget' };
    const selector = fieldSelectorForKind(parseFieldSelector('spec.color=red'), kind, selectable);
    expect(matchesFields(selector, { spec: { color: 'red' } }, selectable)).toBe(true);
    expect(() => fieldSelectorForKind(parseFieldSelector('metadata.namespace=x'), kind, selectable)).toThrow(
      'field label not supported: metadata.namespace',
    );
  });
});

describe('matchesFields', () => {
  const pod = {
    metadata: { name: 'p', namespace: 'n' },
    spec: { nodeName: 'node-1' },
    status: { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }, { ip: '::1' }] },
  };

  it.each([
    ['metadata.name=p,metadata.namespace=n', true],
    ['metadata.name!=p', false],
    ['spec.host=node-1', true],
    ['spec.hostNetwork=false', true],
    ['spec.hostNetwork!=false', false],
    ['status.podIP=10.0.0.1', true],
    ['status.podIP=::1', false],
    ['status.nominatedNodeName=', true],
    ['status.phase!=Running', false],
  ])('for a pod with %j is %s', (text, expected) => {
    expect(matches(text, POD, pod)).toBe(expected);
  });

  it('selects jobs by status.successful', () => {
    expect(matches('status.successful=0', JOB, {})).toBe(true);
    expect(matches('status.successful=2', JOB, { status: { succeeded: 2 } })).toBe(true);
  });

  it('selects events of the core group and of events.k8s.io', () => {
    const core = { involvedObject: { kind: 'Pod' }, source: { component: 'kubelet' } };
    const newer = { regarding: { kind: 'Pod' }, reportingController: 'kubelet' };
    for (const event of [core, newer]) {
      expect(matches('regarding.kind=Pod', EVENT, event)).toBe(true);
      expect(matches('involvedObject.kind=Pod,source=kubelet', { ...EVENT, group: '' }, event)).toBe(true);
    }
    expect(matches('reportingController=kubelet', EVENT, newer)).toBe(true);
  });
});
