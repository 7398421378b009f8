import type { GroupResource, ObjectReader } from '../contracts/object-reader.js';
import { MASTERS_GROUP, type User } from '../contracts/user.js';
import { goQuote } from '../values/go-quote.js';
import type { Attributes, Authorizer, Decision } from './authorizer.js';
import { type Binding, BindingIndex } from './binding-index.js';
import { CompiledRules } from './compiled-rules.js';
import { type PolicyRule, RBAC_GROUP, type RoleRef, rulesOf } from './policy-rule.js';

/** Bound on indexed namespaces: requests may name any namespace. */
const INDEXED_NAMESPACES_MAX = 10_000;

const ROLES: GroupResource = { group: RBAC_GROUP, resource: 'roles' };
const CLUSTER_ROLES: GroupResource = { group: RBAC_GROUP, resource: 'clusterroles' };
const ROLE_BINDINGS: GroupResource = { group: RBAC_GROUP, resource: 'rolebindings' };
const CLUSTER_ROLE_BINDINGS: GroupResource = { group: RBAC_GROUP, resource: 'clusterrolebindings' };

const ALLOWED_TO_MASTERS: Decision = { allowed: true, reason: '' };
const REFUSED: Decision = { allowed: false, reason: '' };

export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  /** Roles that bindings name but that do not exist; their rules are missing. */
  readonly missingRoles: readonly RoleRef[];
}

export interface RbacAuthorizer extends Authorizer {
  /** Returns all rules of a user in a namespace (empty: cluster-wide), in the order of bindings. */
  rulesFor(user: User, namespace: string): HeldRules;
  /** Returns the rules of the role of a binding in `namespace`; undefined if it is missing. */
  roleRules(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
  /** Unsubscribes from changes. */
  close(): void;
}

/**
 * RBAC over stored objects. Bindings are indexed by subject on first use after a change; roles are
 * compiled on first use by a binding.
 */
export function createRbacAuthorizer(objects: ObjectReader): RbacAuthorizer {
  return new Rbac(objects);
}

interface Role {
  readonly rules: readonly PolicyRule[];
  readonly compiled: CompiledRules;
}

class Rbac implements RbacAuthorizer {
  readonly #objects: ObjectReader;
  readonly #unsubscribe: readonly (() => void)[];
  #clusterBindings: BindingIndex | undefined;
  readonly #namespaceBindings = new Map<string, BindingIndex>();
  /** Roles by binding: saves a look-up by name. Replaced after a change of a role. */
  #rolesOfBindings = new WeakMap<Binding, Role>();
  /** By `<namespace>/<name>`, `/<name>` for ClusterRoles. Bounded by the stored roles. */
  readonly #roles = new Map<string, Role>();

  constructor(objects: ObjectReader) {
    this.#objects = objects;
    const forgetRoles = () => {
      this.#roles.clear();
      this.#rolesOfBindings = new WeakMap();
    };
    this.#unsubscribe = [
      objects.onChange(ROLES, forgetRoles),
      objects.onChange(CLUSTER_ROLES, forgetRoles),
      objects.onChange(ROLE_BINDINGS, () => this.#namespaceBindings.clear()),
      objects.onChange(CLUSTER_ROLE_BINDINGS, () => {
        this.#clusterBindings = undefined;
      }),
    ];
  }

  authorize(attributes: Attributes): Decision {
    const { user } = attributes;
    if (user.groups.includes(MASTERS_GROUP)) return ALLOWED_TO_MASTERS;
    const missing: RoleRef[] = [];
    const allows = (binding: Binding): boolean => {
      const role = this.#roleOf(binding);
      if (!role) missing.push(binding.roleRef);
      return role?.compiled.allows(attributes) === true;
    };
    const namespace = 'path' in attributes ? '' : attributes.namespace;
    const binding = this.#clusterIndex().find(user, allows) ?? this.#namespaceIndex(namespace)?.find(user, allows);
    if (binding) return { allowed: true, reason: binding.reasonFor(user) };
    return missing.length === 0 ? REFUSED : { allowed: false, reason: `RBAC: ${missingText(missing)}` };
  }

  rulesFor(user: User, namespace: string): HeldRules {
    const rules: PolicyRule[] = [];
    const missingRoles: RoleRef[] = [];
    const here = this.#namespaceIndex(namespace)?.of(user) ?? [];
    for (const binding of [...this.#clusterIndex().of(user), ...here]) {
      const role = this.#roleOf(binding);
      if (role) for (const rule of role.rules) rules.push(rule);
      else missingRoles.push(binding.roleRef);
    }
    return { rules, missingRoles };
  }

  roleRules(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#role(ref, namespace)?.rules;
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #clusterIndex(): BindingIndex {
    this.#clusterBindings ??= new BindingIndex(this.#objects.list(CLUSTER_ROLE_BINDINGS));
    return this.#clusterBindings;
  }

  #namespaceIndex(namespace: string): BindingIndex | undefined {
    if (namespace === '') return undefined;
    let index = this.#namespaceBindings.get(namespace);
    if (!index) {
      index = new BindingIndex(this.#objects.list(ROLE_BINDINGS, namespace));
      if (this.#namespaceBindings.size >= INDEXED_NAMESPACES_MAX) this.#namespaceBindings.clear();
      this.#namespaceBindings.set(namespace, index);
    }
    return index;
  }

  #roleOf(binding: Binding): Role | undefined {
    const known = this.#rolesOfBindings.get(binding);
    if (known) return known;
    const role = this.#role(binding.roleRef, binding.namespace);
    if (role) this.#rolesOfBindings.set(binding, role);
    return role;
  }

  #role(ref: RoleRef, bindingNamespace: string): Role | undefined {
    const isClusterRole = ref.kind === 'ClusterRole';
    if (!isClusterRole && (ref.kind !== 'Role' || bindingNamespace === '')) return undefined;
    const namespace = isClusterRole ? '' : bindingNamespace;
    const key = `${namespace}/${ref.name}`;
    const known = this.#roles.get(key);
    if (known) return known;
    const object = this.#objects.get(isClusterRole ? CLUSTER_ROLES : ROLES, namespace, ref.name);
    if (!object) return undefined;
    const rules = rulesOf(object);
    const role = { rules, compiled: new CompiledRules(rules) };
    this.#roles.set(key, role);
    return role;
  }
}

/**
 * Formats missing roles as kube-apiserver formats several errors: each once, in brackets if more
 * than one. In the answer to a write it calls every missing role by the `resource` that is written.
 */
export function missingText(refs: readonly RoleRef[], resource?: string): string {
  const texts = refs.map(({ kind, name }) => {
    if (kind !== 'Role' && kind !== 'ClusterRole') return `unsupported role reference kind: ${goQuote(kind)}`;
    return `${resource ?? kind.toLowerCase()}.${RBAC_GROUP} ${goQuote(name)} not found`;
  });
  const unique = [...new Set(texts)];
  return unique.length === 1 ? unique[0]! : `[${unique.join(', ')}]`;
}
