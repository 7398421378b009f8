import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Exchange, Reply } from '../http/exchange.js';
import { NOT_CACHED } from '../http/ready-document.js';
import { statusReply } from '../http/status-reply.js';
import { StatusError } from '../kube/status-error.js';
import { AdmissionChain } from './admission/admission-chain.js';
import { ConstrainedImpersonation } from './authentication/constrained-impersonation.js';
import { impersonatedUser } from './authentication/impersonation.js';
import { requestUser } from './authentication/request-user.js';
import { ServiceAccountTokens } from './authentication/service-account-tokens.js';
import { TokenAuthenticator } from './authentication/token-authenticator.js';
import type { Attributes, Authorizer } from './authorization/authorizer.js';
import { forbiddenError } from './authorization/forbidden.js';
import { createRbacAuthorizer, type RbacAuthorizer } from './authorization/rbac.js';
import { selectedName } from './authorization/selected-name.js';
import { type BootstrapOptions, bootstrap } from './bootstrap.js';
import { builtInStrategies } from './built-in-strategies.js';
import { InternalClient } from './contracts/internal-client.js';
import type { GroupResource } from './contracts/object-reader.js';
import type { User } from './contracts/user.js';
import { type Descriptions, OWN_DESCRIPTIONS } from './descriptions/descriptions.js';
import { type DispatchOptions, dispatch, queryOf } from './dispatch.js';
import { openIdReply } from './documents/open-id-reply.js';
import { ServedDocuments } from './documents/served-documents.js';
import { Extensions, type ExtensionsOptions } from './extensions.js';
import { isBuiltInName } from './registry/built-in-names.js';
import { builtInTypes } from './registry/built-in-types.js';
import { REGISTRY_ROOT } from './registry/storage-layout.js';
import { TypeRegistry } from './registry/type-registry.js';
import type { Backend } from './storage/backend.js';
import { StorageVersionWriter } from './storage-versions/storage-version-writer.js';
import type { BuiltInSurface } from './surfaces/built-in-surface.js';
import type { RuntimeConfig } from './surfaces/runtime-config.js';
import { attributesOfCall, type Machinery } from './verbs/api-call.js';
import { Turns } from './verbs/keyed-mutex.js';
import { Caches } from './watch/caches.js';
import { StoreFeed } from './watch/store-feed.js';

export interface ApiServerOptions {
  /** Identity of this server among those that share the store. */
  readonly serverName: string;
  /** A lease is renewed for this server, by which others see that it is running. */
  readonly keepsLease: boolean;
  readonly backend: Backend;
  readonly surface: BuiltInSurface;
  /** Default: Straddle's own. */
  readonly descriptions?: Descriptions | undefined;
  readonly runtimeConfig: RuntimeConfig;
  readonly eventTtlSeconds: number;
  readonly serviceCidr: string;
  /** `host:port` under which clients reach this server. */
  readonly serverAddress: string;
  readonly tokens: {
    readonly issuer: string;
    readonly signingKeyPem: string;
    readonly verificationKeysPem?: readonly string[];
    readonly staticTokens?: ReadonlyMap<string, User>;
  };
  readonly bootstrap: Pick<BootstrapOptions, 'clientCa' | 'requestHeader' | 'serviceCidr'>;
  readonly extensions: Pick<ExtensionsOptions, 'outbound' | 'aggregationOutbound' | 'makeHeaders'>;
  /** Returns the name of another live server that serves a resource in some version. */
  readonly servingPeer?: (what: GroupResource) => string | undefined;
  /** Makes the authorizer that replaces RBAC; RBAC itself by default. */
  readonly authorizerOver?: (rbac: Authorizer) => Authorizer;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Resources that are read on almost every request, or needed before the first one. */
const READ_AT_START: readonly GroupResource[] = [
  { group: '', resource: 'namespaces' },
  { group: 'rbac.authorization.k8s.io', resource: 'roles' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { group: 'rbac.authorization.k8s.io', resource: 'rolebindings' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
  { group: '', resource: 'serviceaccounts' },
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
  { group: 'apiregistration.k8s.io', resource: 'apiservices' },
  { group: 'admissionregistration.k8s.io', resource: 'mutatingwebhookconfigurations' },
  { group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations' },
  { group: 'scheduling.k8s.io', resource: 'priorityclasses' },
  { group: 'storage.k8s.io', resource: 'storageclasses' },
  { group: 'networking.k8s.io', resource: 'ingressclasses' },
  { group: '', resource: 'limitranges' },
  { group: '', resource: 'services' },
  { group: 'policy', resource: 'poddisruptionbudgets' },
  { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' },
  { group: 'admissionregistration.k8s.io', resource: 'mutatingadmissionpolicies' },
];

/**
 * A Kubernetes API server over a store: authenticates and authorizes a request, then runs a verb,
 * replies with a document or proxies to an aggregated API server. Several may share one store.
 */
export class ApiServer {
  readonly registry: TypeRegistry;
  readonly tokens: TokenAuthenticator;
  readonly client: InternalClient;
  readonly #options: ApiServerOptions;
  readonly #feed: StoreFeed;
  readonly #caches: Caches;
  readonly #machinery: Machinery;
  readonly #rbac: RbacAuthorizer;
  readonly #authorizer: Authorizer;
  readonly #constrained: ConstrainedImpersonation | undefined;
  readonly #extensions: Extensions;
  readonly #documents: ServedDocuments;
  readonly #dispatch: DispatchOptions;
  readonly #serviceAccounts: ServiceAccountTokens;
  readonly #storageVersions: StorageVersionWriter;

  constructor(options: ApiServerOptions) {
    const { backend, clock, logger, surface } = options;
    this.#options = options;
    this.#feed = new StoreFeed({ backend, root: REGISTRY_ROOT, clock, logger });
    this.#caches = new Caches(backend, this.#feed);
    this.#rbac = createRbacAuthorizer(this.#caches);
    this.#authorizer = options.authorizerOver?.(this.#rbac) ?? this.#rbac;
    const isConstrained = surface.minor >= CONSTRAINED_IMPERSONATION_MINOR;
    this.#constrained = isConstrained
      ? new ConstrainedImpersonation((attributes) => this.#authorizer.authorize(attributes))
      : undefined;
    const audiences = [options.tokens.issuer];
    this.#serviceAccounts = new ServiceAccountTokens({
      ...options.tokens,
      objects: this.#caches,
      issuers: audiences,
      apiAudiences: audiences,
      clock,
    });
    this.tokens = new TokenAuthenticator({
      ...options.tokens,
      apiAudiences: audiences,
      serviceAccounts: this.#serviceAccounts,
    });
    const { types, virtual } = builtInTypes(surface, {
      runtimeConfig: options.runtimeConfig,
      strategyOf: builtInStrategies({
        surface,
        serviceCidr: options.serviceCidr,
        builtInAt: (what) => this.#builtInAt(what),
      }),
      eventTtlSeconds: options.eventTtlSeconds,
    });
    this.registry = new TypeRegistry(types, virtual);
    this.client = new InternalClient(this.handle, clock);
    this.#extensions = new Extensions({
      ...options.extensions,
      registry: this.registry,
      caches: this.#caches,
      client: this.client,
      rbac: this.#rbac,
      authorizer: this.#authorizer,
      surface,
      clock,
      logger,
    });
    this.#storageVersions = new StorageVersionWriter({
      ...options,
      registry: this.registry,
      caches: this.#caches,
      client: this.client,
    });
    this.#machinery = {
      minor: surface.minor,
      backend,
      feed: this.#feed,
      caches: this.#caches,
      admission: new AdmissionChain(this.#extensions.admissionPlugins()),
      authorizer: this.#authorizer,
      clock,
      watches: new Set(),
      turns: new Turns(),
    };
    this.#dispatch = {
      machinery: this.#machinery,
      registry: this.registry,
      reviews: {
        objects: this.#caches,
        authorizer: this.#authorizer,
        rulesFor: (user, namespace) => this.#rbac.rulesFor(user, namespace),
        authenticator: this.tokens,
        tokens: this.#serviceAccounts,
      },
    };
    this.#documents = new ServedDocuments({
      served: () => this.#extensions.served(),
      discovery: {
        serverAddress: options.serverAddress,
        gitVersion: surface.capturedFrom,
        otherPaths: OTHER_PATHS,
      },
      openApi: {
        surface,
        descriptions: options.descriptions ?? OWN_DESCRIPTIONS,
        customSchema: (type) => this.#extensions.openApiSchema(type),
      },
      foreign: () => this.#extensions.foreignOpenApi(),
    });
  }

  /** Fills the caches and creates system objects. Rejects if the store cannot be read. */
  async start(): Promise<void> {
    await this.#feed.start();
    await this.#caches.load(READ_AT_START);
    await this.#extensions.loadDefinitions();
    await bootstrap({
      ...this.#options.bootstrap,
      minor: this.#options.surface.minor,
      client: this.client,
      objects: this.#caches,
      nowMs: this.#options.clock.nowMs(),
      logger: this.#options.logger,
    });
    this.#extensions.start();
    await this.#storageVersions.start();
  }

  /** Replies to a request. A StatusError becomes a reply. */
  handle = async (exchange: Exchange): Promise<Reply> => {
    try {
      return await this.#answer(exchange);
    } catch (error) {
      if (error instanceof StatusError) return statusReply(error, exchange);
      throw error;
    }
  };

  async #answer(exchange: Exchange): Promise<Reply> {
    const { info } = exchange;
    const user = this.#admittedUser(exchange);
    const reply = await (info.isResource
      ? (this.#extensions.reply(exchange, user) ?? dispatch(exchange, user, this.#dispatch))
      : this.#pathReply(exchange, user));
    return reply ?? this.#nothingAt(info.path);
  }

  /** Returns the user after impersonation. Throws Unauthorized or Forbidden. */
  #admittedUser(exchange: Exchange): User {
    const callerAttributes = attributesOf(exchange, requestUser(exchange, this.tokens));
    const user = this.#impersonated(exchange, callerAttributes);
    const attributes = user ? attributesOf(exchange, user) : callerAttributes;
    const { allowed, reason } = this.#authorizer.authorize(attributes);
    if (!allowed) throw forbiddenError(attributes, reason);
    return attributes.user;
  }

  async #pathReply(exchange: Exchange, user: User): Promise<Reply | undefined> {
    const { tokens, serverAddress } = this.#options;
    return (
      (await this.#documents.reply(exchange)) ??
      openIdReply(exchange, this.#serviceAccounts, { issuer: tokens.issuer, serverAddress }) ??
      this.#extensions.reply(exchange, user)
    );
  }

  /** Replies 404: with a Status below the core API and built-in groups, in plain text elsewhere. */
  #nothingAt(path: string): Reply {
    const [, prefix, group] = path.split('/');
    if (prefix === 'api' || (prefix === 'apis' && group !== undefined && this.registry.builtInGroups.has(group))) {
      throw new StatusError('NotFound', 'the server could not find the requested resource');
    }
    return pageNotFound();
  }

  /** Ends watches normally, then everything else. */
  async close(): Promise<void> {
    for (const watch of this.#machinery.watches) watch.stop();
    await this.#storageVersions.close();
    this.#extensions.close();
    this.#rbac.close();
    await this.#feed.close();
  }

  /** Calls back after a change of the served resources. */
  onSurfaceChange(listener: () => void): void {
    this.#extensions.onServedChange(listener);
  }

  /** Returns where a resource is built in: Kubernetes (any version), or another live server. */
  #builtInAt(what: GroupResource): string | undefined {
    const { surface, servingPeer } = this.#options;
    const group = surface.groups.find(({ name }) => name === what.group);
    const isInSurface = group?.versions.some(({ resources }) => resources.some(({ name }) => name === what.resource));
    if (isInSurface === true || isBuiltInName(what)) return 'Kubernetes';
    if (this.#extensions.explains(what)) return undefined;
    const peer = servingPeer?.(what);
    return peer === undefined ? undefined : `server ${JSON.stringify(peer)} of this control plane`;
  }

  /** Since 1.36 the right to impersonate can be limited to some actions. */
  #impersonated({ headers }: Exchange, request: Attributes): User | undefined {
    if (this.#constrained) return this.#constrained.impersonatedUser(headers, request);
    return impersonatedUser(headers, request.user, (attributes) => this.#authorizer.authorize(attributes));
  }
}

const OTHER_PATHS = [
  '/.well-known/openid-configuration',
  '/healthz',
  '/livez',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openid/v1/jwks',
  '/readyz',
];

const CONSTRAINED_IMPERSONATION_MINOR = 36;

const OF_A_COLLECTION: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

function attributesOf({ info, method, target }: Exchange, user: User): Attributes {
  if (!info.isResource) return { user, verb: method.toLowerCase(), path: info.path };
  const attributes = attributesOfCall({ user, info });
  if (info.name !== '' || !OF_A_COLLECTION.has(info.verb)) return attributes;
  return { ...attributes, name: selectedName(queryOf(target).get('fieldSelector') ?? '') };
}

/** kube-apiserver's reply to an unknown path. */
function pageNotFound(): Reply {
  const body = Buffer.from('404 page not found\n');
  const headers = ['Content-Type', 'text/plain; charset=utf-8', 'X-Content-Type-Options', 'nosniff', ...NOT_CACHED];
  return { status: 404, headers: [...headers, 'Content-Length', String(body.byteLength)], body };
}
