import type { RawHeaders } from '../../http/headers.js';
import { StatusError } from '../../kube/status-error.js';
import type { Attributes, ResourceAttributes } from '../authorization/authorizer.js';
import { demand } from '../authorization/demand.js';
import { forbiddenError } from '../authorization/forbidden.js';
import { MASTERS_GROUP, type User } from '../contracts/user.js';
import { goQuote } from '../values/go-quote.js';
import { dnsSubdomainProblems } from '../values/object-meta.js';
import { AUTHENTICATION_GROUP, type Authorize, completeUser, rightsTo } from './impersonation.js';
import { nodeOfUserName, refusalWithConstraints, type WantedUser, wantedUser } from './impersonation-headers.js';
import { EXTRA, splitServiceAccountUserName } from './service-account-user.js';

const PATH_PATTERN = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const NODES_GROUP = 'system:nodes';
/** From this many rights on, the right on all names is checked first. */
const MANY = 4;
/** Bound on requesters whose last mode is remembered. */
const REMEMBERED_MAX = 10_000;

type Mode = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info' | 'legacy';
/** In the order in which they are tried. */
const MODES: readonly Mode[] = ['associated-node', 'arbitrary-node', 'serviceaccount', 'user-info', 'legacy'];

/**
 * Impersonation from Kubernetes 1.36 on. Besides the verb `impersonate`, which allows everything as
 * somebody, a requester may hold `impersonate:<mode>` for the user and
 * `impersonate-on:<mode>:<verb>` for the request itself.
 */
export class ConstrainedImpersonation {
  readonly #authorize: Authorize;
  /** The mode that last succeeded for a requester is tried first; the first refusal is returned. */
  readonly #lastModes = new Map<string, Mode>();

  constructor(authorize: Authorize) {
    this.#authorize = authorize;
  }

  /** Returns undefined without impersonation. Throws Forbidden or BadRequest. */
  impersonatedUser(headers: RawHeaders, request: Attributes): User | undefined {
    const wanted = wantedUser(headers, refusalWithConstraints);
    if (!wanted) return undefined;
    const last = this.#lastModes.get(request.user.name);
    const order = last === undefined ? MODES : [last, ...MODES.filter((mode) => mode !== last)];
    let refusal: StatusError | undefined;
    for (const mode of order) {
      try {
        const user = this.#tryMode(mode, wanted, request);
        if (!user) continue;
        this.#remember(request.user.name, mode);
        return user;
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        refusal ??= error;
      }
    }
    throw refusal ?? new StatusError('InternalError', 'all impersonation modes failed');
  }

  #remember(name: string, mode: Mode): void {
    if (this.#lastModes.size >= REMEMBERED_MAX) this.#lastModes.clear();
    this.#lastModes.set(name, mode);
  }

  /** Returns undefined if the mode does not apply to such a user. Throws Forbidden. */
  #tryMode(mode: Mode, wanted: WantedUser, request: Attributes): User | undefined {
    const { user: requester } = request;
    if (mode === 'legacy') {
      const right = rightsTo('impersonate', '', requester, wanted);
      demand(this.#authorize, [right.name, ...right.uid, ...right.groups, ...right.extra]);
      return completeUser(wanted);
    }
    if (!isMadeFor(mode, wanted, requester)) return undefined;
    const asked = mode === 'associated-node' ? withoutNode(requester) : requester;
    demand(this.#authorize, [{ ...request, user: asked, verb: `impersonate-on:${mode}:${request.verb}` }]);
    this.#demandUser(mode, wanted, asked);
    return completeUser(wanted, nodeOfUserName(wanted.name) === undefined ? undefined : [NODES_GROUP]);
  }

  #demandUser(mode: Exclude<Mode, 'legacy'>, wanted: WantedUser, requester: User): void {
    const right = rightsTo(`impersonate:${mode}`, AUTHENTICATION_GROUP, requester, wanted);
    // The rule cannot name the associated node: it is a different one for each requester.
    const nodeName = mode === 'associated-node' ? '*' : nodeOfUserName(wanted.name);
    demand(this.#authorize, [
      nodeName === undefined ? right.name : { ...right.name, resource: 'nodes', name: nodeName },
      ...right.uid,
    ]);
    this.#demandGroups(right.groups);
    this.#demandExtra(right.extra, wanted);
  }

  #demandGroups(rights: readonly ResourceAttributes[]): void {
    const [first] = rights;
    if (!first) return;
    if (rights.some(({ name }) => name === '')) {
      throw forbiddenError({ ...first, name: '' }, 'impersonating the empty string group is not allowed');
    }
    if (rights.some(({ name }) => name === MASTERS_GROUP)) {
      throw forbiddenError({ ...first, name: MASTERS_GROUP }, 'impersonating the system:masters group is not allowed');
    }
    if (rights.length >= MANY && this.#authorize({ ...first, name: '*' }).allowed) return;
    demand(this.#authorize, rights);
  }

  #demandExtra(rights: readonly ResourceAttributes[], wanted: WantedUser): void {
    const [first] = rights;
    if (!first) return;
    const problem = extraProblem(wanted.extra);
    if (problem) throw forbiddenError({ ...first, subresource: '', name: '' }, problem);
    const isMany = wanted.extra.size >= MANY || rights.length >= MANY;
    if (isMany && this.#authorize({ ...first, subresource: '*', name: '*' }).allowed) return;
    demand(this.#authorize, rights);
  }
}

function isMadeFor(mode: Exclude<Mode, 'legacy'>, wanted: WantedUser, requester: User): boolean {
  const node = nodeOfUserName(wanted.name);
  const account = splitServiceAccountUserName(wanted.name);
  if (mode === 'user-info') return node === undefined && account === undefined;
  if (wanted.uid !== '' || wanted.groups.length > 0 || wanted.extra.size > 0) return false;
  if (mode === 'serviceaccount') return account !== undefined;
  if (node === undefined || mode === 'arbitrary-node') return node !== undefined;
  const requesterNodes = requester.extra.get(EXTRA.nodeName) ?? [];
  return (
    splitServiceAccountUserName(requester.name) !== undefined &&
    requesterNodes.length === 1 &&
    requesterNodes[0] === node
  );
}

/** The decision must not depend on the node. */
function withoutNode(requester: User): User {
  const keys = [...requester.extra.keys()].sort();
  return { ...requester, extra: new Map([['authentication.kubernetes.io/associated-node-keys', keys]]) };
}

function extraProblem(extra: WantedUser['extra']): string | undefined {
  for (const [key, values] of extra) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const invalid = extraKeyProblem(key);
    if (invalid) return `impersonating an invalid key in extra is not allowed: ${invalid}`;
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${goQuote(key)}`;
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

/** A host name, a slash and a path. */
function extraKeyProblem(key: string): string | undefined {
  const slash = key.indexOf('/');
  const invalid = (value: string, problem: string) => `extra.key: Invalid value: ${goQuote(value)}: ${problem}`;
  if (slash < 1 || slash === key.length - 1) {
    return invalid(key, 'must be a domain-prefixed path (such as "acme.io/foo")');
  }
  const host = key.slice(0, slash);
  const problems = dnsSubdomainProblems(host).map((problem) => invalid(host, problem));
  const path = key.slice(slash + 1);
  if (!new RegExp(`^${PATH_PATTERN}$`).test(path)) {
    problems.push(invalid(path, `Invalid path (regex used for validation is '${PATH_PATTERN}')`));
  }
  if (problems.length === 0) return undefined;
  return problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
}
