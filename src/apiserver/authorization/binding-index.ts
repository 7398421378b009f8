import { objects, text } from '../../kube/fields.js';
import { type JsonObject, member } from '../../kube/json.js';
import { SERVICE_ACCOUNT_PREFIX, type User } from '../contracts/user.js';
import { goQuote } from '../values/go-quote.js';
import { type RoleRef, readRoleRef } from './policy-rule.js';

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** The name of the user or of the group; neither for a subject that matches no user. */
  readonly user?: string;
  readonly group?: string;
}

/** A parsed RoleBinding or ClusterRoleBinding. */
export class Binding {
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
  readonly #reasons = new Map<Subject, string>();

  constructor(object: JsonObject) {
    const metadata = member(object, 'metadata');
    this.name = text(metadata, 'name');
    this.namespace = text(metadata, 'namespace');
    this.roleRef = readRoleRef(object);
    this.subjects = objects(object, 'subjects').map((each) => this.#readSubject(each));
  }

  #readSubject(object: JsonObject): Subject {
    const kind = text(object, 'kind');
    const name = text(object, 'name');
    const namespace = text(object, 'namespace');
    const subject = { kind, name, namespace };
    if (kind === 'User') return { ...subject, user: name };
    if (kind === 'Group') return { ...subject, group: name };
    const home = namespace || this.namespace;
    if (kind !== 'ServiceAccount' || home === '') return subject;
    return { ...subject, user: `${SERVICE_ACCOUNT_PREFIX}${home}:${name}` };
  }

  /** Returns kube-apiserver's reason: the first subject that matches the user. */
  reasonFor(user: User): string {
    const subject = this.subjects.find(({ user: name, group }) =>
      group === undefined ? name === user.name : user.groups.includes(group),
    );
    if (!subject) return '';
    let reason = this.#reasons.get(subject);
    if (reason === undefined) {
      reason = this.#describe(subject);
      this.#reasons.set(subject, reason);
    }
    return reason;
  }

  #describe(subject: Subject): string {
    const kind = this.namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
    const name = this.namespace === '' ? this.name : `${this.name}/${this.namespace}`;
    const isAccount = subject.kind === 'ServiceAccount';
    const who = isAccount ? `${subject.name}/${subject.namespace || this.namespace}` : subject.name;
    const { roleRef } = this;
    return `RBAC: allowed by ${kind} ${goQuote(name)} of ${roleRef.kind} ${goQuote(roleRef.name)} to ${subject.kind} ${goQuote(who)}`;
  }
}

/** The bindings of one namespace, or of the cluster, by subject. */
export class BindingIndex {
  readonly #byUser = new Map<string, Binding[]>();
  readonly #byGroup = new Map<string, Binding[]>();

  constructor(objects: readonly JsonObject[]) {
    for (const object of objects) {
      const binding = new Binding(object);
      for (const name of new Set(binding.subjects.map(({ user }) => user))) add(this.#byUser, name, binding);
      for (const name of new Set(binding.subjects.map(({ group }) => group))) add(this.#byGroup, name, binding);
    }
  }

  /** Returns the first binding of the user, or of a group of the user, that passes. */
  find(user: User, passes: (binding: Binding) => boolean): Binding | undefined {
    const userBinding = this.#byUser.get(user.name)?.find(passes);
    if (userBinding) return userBinding;
    for (const group of user.groups) {
      const found = this.#byGroup.get(group)?.find(passes);
      if (found) return found;
    }
    return undefined;
  }

  /** Returns the bindings of the user and of the groups of the user, each once. */
  of(user: User): readonly Binding[] {
    const lists: (readonly Binding[])[] = [];
    const userBindings = this.#byUser.get(user.name);
    if (userBindings) lists.push(userBindings);
    for (const group of user.groups) {
      const list = this.#byGroup.get(group);
      if (list) lists.push(list);
    }
    return lists.length > 1 ? [...new Set(lists.flat())] : (lists[0] ?? []);
  }
}

function add(index: Map<string, Binding[]>, name: string | undefined, binding: Binding): void {
  if (name === undefined) return;
  const known = index.get(name);
  if (known) known.push(binding);
  else index.set(name, [binding]);
}
