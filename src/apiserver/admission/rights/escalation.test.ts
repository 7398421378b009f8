import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kube/json.js';
import { StatusError } from '../../../kube/status-error.js';
import { RBAC_GROUP } from '../../authorization/policy-rule.js';
import { createRbacAuthorizer } from '../../authorization/rbac.js';
import { MASTERS_GROUP, type User } from '../../contracts/user.js';
import type { ResourceType } from '../../registry/resource-type.js';
import { type RecordedCase, recorded, recordedWorld, user } from '../../reviews/recorded.fixture.js';
import type { AdmissionRequest } from '../admission.js';
import { escalationProblem, rbacEscalationPlugin } from './escalation.js';

const objects = recordedWorld();
const rbac = createRbacAuthorizer(objects);
const plugin = rbacEscalationPlugin(rbac);

function admissionOf(each: RecordedCase, who: User): AdmissionRequest {
  const segments = each.path.split('?')[0]!.split('/');
  const namespaced = segments[4] === 'namespaces';
  const namespace = namespaced ? segments[5]! : '';
  const resource = segments[namespaced ? 6 : 4]!;
  const role = recorded.world.find((object) => (object.metadata as JsonObject).name === 'config-editor')!;
  const { uid, resourceVersion, creationTimestamp } = role.metadata as Record<string, string>;
  const text = JSON.stringify(each.body)
    .replaceAll('$UID', uid!)
    .replaceAll('$VERSION', resourceVersion!)
    .replaceAll('$CREATED', creationTimestamp!);
  const object = JSON.parse(text) as JsonObject;
  const name = (object.metadata as JsonObject).name as string;
  const isUpdate = each.method === 'PUT';
  return {
    operation: isUpdate ? 'UPDATE' : 'CREATE',
    type: { group: RBAC_GROUP, version: 'v1', resource } as ResourceType,
    subresource: '',
    namespace,
    name,
    pathName: isUpdate ? name : '',
    verb: isUpdate ? 'update' : 'create',
    object,
    oldObject: isUpdate ? objects.get({ group: RBAC_GROUP, resource }, namespace, name) : undefined,
    options: { kind: isUpdate ? 'UpdateOptions' : 'CreateOptions' },
    dryRun: false,
    user: who,
    warn: () => {},
  };
}

function refusal(request: AdmissionRequest): unknown {
  try {
    plugin.validate!(request);
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
}

describe('rbacEscalationPlugin', () => {
  it.each(recorded.writes.map((each) => [each.name, each] as const))(
    'decides as kube-apiserver did about: %s',
    (_, each) => {
      const who = user(each.headers![1]!, 'writers', 'system:authenticated');
      expect(refusal(admissionOf(each, who))).toEqual(each.status < 300 ? undefined : each.answer);
    },
  );

  it('allows every write to the group system:masters', () => {
    for (const each of recorded.writes) {
      expect(refusal(admissionOf(each, user('root', MASTERS_GROUP)))).toBeUndefined();
    }
  });

  it('ignores other API groups, subresources and deletions', () => {
    const request = admissionOf(recorded.writes.find(({ status }) => status === 403)!, user('nobody'));
    expect(refusal(request)).toBeDefined();
    expect(refusal({ ...request, type: { ...request.type, group: 'example.test' } })).toBeUndefined();
    expect(refusal({ ...request, subresource: 'status' })).toBeUndefined();
    expect(refusal({ ...request, operation: 'DELETE', object: undefined })).toBeUndefined();
  });

  it('accepts the right to escalate a role by name for updates of that role, not for its creation', () => {
    const each = recorded.writes.find(({ name }) => name === 'a role of another, changed')!;
    const request = admissionOf(each, user('nobody'));
    const named = rbacEscalationPlugin(rbac, {
      authorize: (asked) => ({ allowed: 'name' in asked && asked.name === 'config-editor', reason: '' }),
    });
    expect(() => named.validate!(request)).not.toThrow();
    const created = {
      ...request,
      operation: 'CREATE' as const,
      oldObject: undefined,
      options: { kind: 'CreateOptions' },
      pathName: '',
    };
    expect(() => named.validate!(created)).toThrow(StatusError);
  });
});

describe('escalationProblem', () => {
  const wanted = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [], nonResourceURLs: [] }];

  it('lists the roles that were not found', () => {
    const held = { rules: [], missingRoles: [{ apiGroup: RBAC_GROUP, kind: 'Role', name: 'gone' }] };
    expect(escalationProblem(user('x'), held, wanted, 'roles')).toBe(
      'user "x" (groups=[]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}; resolution errors: [roles.rbac.authorization.k8s.io "gone" not found]',
    );
  });

  it('reports only the number of combinations if a rule has too many of them', () => {
    const many = Array.from({ length: 500 }, (_, index) => `x${index}`);
    const huge = [{ verbs: many, apiGroups: many, resources: many, resourceNames: many, nonResourceURLs: many }];
    const problem = escalationProblem(user('x'), { rules: wanted, missingRoles: [] }, huge, 'roles');
    expect(problem).toContain('62500250000 combinations');
  });

  it('does not accept a right with resourceNames as a right to all names', () => {
    const held = { rules: [{ ...wanted[0]!, resourceNames: ['one'] }], missingRoles: [] };
    expect(escalationProblem(user('x'), held, wanted, 'roles')).toBeDefined();
    const one = [{ ...wanted[0]!, resourceNames: ['one'] }];
    expect(escalationProblem(user('x'), held, one, 'roles')).toBeUndefined();
    expect(escalationProblem(user('x'), { rules: wanted, missingRoles: [] }, one, 'roles')).toBeUndefined();
  });
});
