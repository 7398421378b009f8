import { type KubeconfigServer, kubeconfigOf } from '../../compose/admin-kubeconfig.js';
import { type IssuedCertificate, issueCertificate } from '../../http/tls/issue-certificate.js';
import { text } from '../../kube/fields.js';
import { type JsonObject, objectMember } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { askServer } from '../plane/plane-client.js';
import { checkKeys, shown } from './check-keys.js';
import { type AskedServer, accepted, putObject, removeObject, untilSeen } from './test-objects.js';

/** A user, or a service account as `namespace/name`. */
export type Caller =
  | string
  | { readonly user: string; readonly groups?: readonly string[] }
  | { readonly serviceAccount: string };

/** A rule of RBAC; with `namespace` it holds in that namespace only. */
export interface AccessRule {
  readonly verbs: readonly string[];
  /** Default: the core group. */
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly namespace?: string;
}

/** What a client of certain rights needs. */
export interface ControlPlaneAccess {
  /** As API servers name it: `alice`, `system:serviceaccount:default:operator`. */
  readonly user: string;
  /** As {@link ControlPlane.kubeconfig}, for this user. */
  readonly kubeconfig: string;
  kubeconfigFor(context: string): string;
  /** For clients that read no kubeconfig: a certificate with its key, or a token. */
  readonly credentials:
    | { readonly ca: string; readonly cert: string; readonly key: string }
    | { readonly ca: string; readonly token: string };
}

export interface AccessOptions {
  /** Those that run. */
  readonly servers: () => readonly AskedServer[];
  readonly ca: IssuedCertificate;
  /** All contexts of a kubeconfig, or the one of that name. */
  readonly contexts: (name?: string) => readonly KubeconfigServer[];
}

/** On all that is made for a user here. */
export const ACCESS_LABEL = 'straddle-testing/access';

const LABELS = { [ACCESS_LABEL]: 'true' };
const RBAC = 'rbac.authorization.k8s.io';
const CERTIFICATE_DAYS = 30;
const TOKEN_SECONDS = 24 * 3_600;
const RULE_NAMES: Record<keyof AccessRule, true> = {
  verbs: true,
  apiGroups: true,
  resources: true,
  resourceNames: true,
  nonResourceURLs: true,
  namespace: true,
};

interface KnownCaller {
  readonly user: string;
  readonly groups: readonly string[];
  readonly account: { readonly namespace: string; readonly name: string } | undefined;
}

/** Makes users with just the rights of some rules. */
export class Accesses {
  readonly #options: AccessOptions;
  /** Paths of the roles and bindings of each user, the newest call's. */
  readonly #granted = new Map<string, readonly string[]>();

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  async make(who: Caller, rules: readonly AccessRule[]): Promise<ControlPlaneAccess> {
    const caller = callerOf(who);
    checkRules(rules);
    const secret = caller.account === undefined ? this.#certificate(caller) : await this.#token(caller.account);
    await this.#grant(caller, rules);
    const { ca, contexts } = this.#options;
    const user = { name: caller.user, credentials: secret };
    const kubeconfigFor = (context?: string): string => kubeconfigOf(contexts(context), ca.certPem, user);
    return {
      user: caller.user,
      kubeconfig: kubeconfigFor(),
      kubeconfigFor,
      credentials: { ca: ca.certPem, ...secret },
    };
  }

  #certificate({ user, groups }: KnownCaller): { readonly cert: string; readonly key: string } {
    const { certPem, keyPem } = issueCertificate(this.#options.ca, {
      commonName: user,
      organizations: groups,
      usage: 'client',
      days: CERTIFICATE_DAYS,
    });
    return { cert: certPem, key: keyPem };
  }

  async #token({ namespace, name }: { readonly namespace: string; readonly name: string }): Promise<{ token: string }> {
    const servers = this.#options.servers();
    const destination = servers[0]?.destination;
    if (!destination) throw new Error('as: no server of this control plane runs.');
    const create = async (collection: string, object: JsonObject): Promise<void> => {
      const answer = await askServer(destination, 'POST', collection, { body: object });
      if (answer.status !== 409) accepted(`as: ${collection}`, answer);
    };
    await create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: LABELS },
    });
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await create(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, labels: LABELS } });
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [], expirationSeconds: TOKEN_SECONDS },
    };
    const made = accepted('as', await askServer(destination, 'POST', `${accounts}/${name}/token`, { body }));
    return { token: text(objectMember(made, 'status'), 'token') };
  }

  /** Gives the rights of these rules, and takes those of an earlier call. */
  async #grant(caller: KnownCaller, rules: readonly AccessRule[]): Promise<void> {
    const servers = this.#options.servers();
    const what = `as: ${caller.user}`;
    for (const path of this.#granted.get(caller.user) ?? []) await removeObject(servers, what, path);
    const wanted = grantsOf(caller, rules);
    this.#granted.set(
      caller.user,
      wanted.map(({ collection, object }) => `${collection}/${encodeURIComponent(nameOf(object))}`),
    );
    for (const { collection, object } of wanted) {
      const made = await putObject(servers, what, collection, object);
      await untilSeen(servers, what, collection, made);
    }
  }
}

interface Grant {
  readonly collection: string;
  readonly object: JsonObject;
}

function grantsOf(caller: KnownCaller, rules: readonly AccessRule[]): Grant[] {
  const namespaces = [...new Set(rules.map(({ namespace }) => namespace))];
  return namespaces.flatMap((namespace) => {
    const prefix = namespace === undefined ? 'Cluster' : '';
    const base = `/apis/${RBAC}/v1${namespace === undefined ? '' : `/namespaces/${namespace}`}`;
    const common = {
      apiVersion: `${RBAC}/v1`,
      metadata: { name: `straddle-testing:${caller.user.replaceAll('/', ':')}`, labels: LABELS },
    };
    const role = rules.filter((rule) => rule.namespace === namespace).map(ruleOf);
    const subject =
      caller.account === undefined
        ? { apiGroup: RBAC, kind: 'User', name: caller.user }
        : { kind: 'ServiceAccount', ...caller.account };
    const roleRef = { apiGroup: RBAC, kind: `${prefix}Role`, name: common.metadata.name };
    return [
      { collection: `${base}/${prefix.toLowerCase()}roles`, object: { ...common, kind: `${prefix}Role`, rules: role } },
      {
        collection: `${base}/${prefix.toLowerCase()}rolebindings`,
        object: { ...common, kind: `${prefix}RoleBinding`, roleRef, subjects: [subject] },
      },
    ];
  });
}

function ruleOf({ namespace: _, ...rule }: AccessRule): JsonObject {
  const isAboutResources = rule.nonResourceURLs === undefined;
  return JSON.parse(JSON.stringify({ ...(isAboutResources ? { apiGroups: [''] } : {}), ...rule })) as JsonObject;
}

function callerOf(who: Caller): KnownCaller {
  if (typeof who === 'string' && who !== '') return { user: who, groups: [], account: undefined };
  if (typeof who === 'object' && who !== null) {
    if ('serviceAccount' in who) {
      const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(String(who.serviceAccount)) ?? [];
      if (namespace !== undefined && name !== undefined)
        return { user: `system:serviceaccount:${namespace}:${name}`, groups: [], account: { namespace, name } };
      throw new Error(`as: give a service account as 'namespace/name', not ${shown(who.serviceAccount)}.`);
    }
    checkKeys('as', who, ['user', 'groups', 'serviceAccount']);
    if (typeof who.user === 'string' && who.user !== '')
      return { user: who.user, groups: who.groups ?? [], account: undefined };
  }
  throw new Error(`as: give a user as 'alice', or { serviceAccount: 'namespace/name' }, not ${shown(who)}.`);
}

function checkRules(rules: readonly AccessRule[]): void {
  if (!Array.isArray(rules)) throw new Error(`as: give a list of rules, not ${shown(rules)}.`);
  for (const rule of rules as readonly AccessRule[]) {
    if (typeof rule !== 'object' || rule === null) throw new Error(`as: ${shown(rule)} is no rule.`);
    checkKeys('as: a rule', rule, Object.keys(RULE_NAMES));
    if (!Array.isArray(rule.verbs) || rule.verbs.length === 0)
      throw new Error(`as: the rule ${shown(rule)} needs verbs, such as ['get', 'list'].`);
    if (rule.resources === undefined && rule.nonResourceURLs === undefined)
      throw new Error(`as: the rule ${shown(rule)} needs resources, such as ['pods'].`);
  }
}
