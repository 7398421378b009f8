import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Exchange, Reply } from '../http/exchange.js';
import { groupVersion } from '../kube/gvr.js';
import type { JsonObject } from '../kube/json.js';
import type { AdmissionPlugin, AdmissionType } from './admission/admission.js';
import { builtInAdmission } from './admission/plugins/all-plugins.js';
import { certificateRequester } from './admission/plugins/certificate-requester.js';
import { claimRights } from './admission/rights/claim-rights.js';
import { rbacEscalationPlugin } from './admission/rights/escalation.js';
import { policyParameterRights } from './admission/rights/policy-parameter-rights.js';
import { mutatingWebhooks } from './admission/webhooks/mutating-webhooks.js';
import { validatingWebhooks } from './admission/webhooks/validating-webhooks.js';
import type { MatchVariables } from './admission/webhooks/webhook-deps.js';
import { AggregatedApis, type AggregatedApisOptions } from './aggregation/aggregated-apis.js';
import type { AggregationOutbound } from './aggregation/aggregation-outbound.js';
import { LocalServiceKeeper } from './aggregation/local-service-keeper.js';
import { resolveService } from './aggregation/service-address.js';
import type { Authorizer } from './authorization/authorizer.js';
import type { RbacAuthorizer } from './authorization/rbac.js';
import { compileMatchCondition } from './cel/match-condition.js';
import { ruleProblemSteps } from './cel/validate-rules.js';
import type { InternalClient } from './contracts/internal-client.js';
import type { GroupResource } from './contracts/object-reader.js';
import type { User } from './contracts/user.js';
import { DefinitionController } from './crd/definition-controller.js';
import { DefinitionWatch } from './crd/definition-watch.js';
import type { Outbound } from './outbound/outbound.js';
import type { ResourceType } from './registry/resource-type.js';
import type { ServedResources } from './registry/served-resources.js';
import type { TypeRegistry } from './registry/type-registry.js';
import { ANY } from './schema/schema.js';
import type { BuiltInSurface } from './surfaces/built-in-surface.js';
import type { Caches } from './watch/caches.js';

export interface ExtensionsOptions {
  readonly registry: TypeRegistry;
  readonly caches: Caches;
  readonly client: InternalClient;
  readonly rbac: RbacAuthorizer;
  readonly authorizer: Authorizer;
  readonly surface: BuiltInSurface;
  readonly outbound: Outbound;
  readonly aggregationOutbound: AggregationOutbound;
  readonly makeHeaders: AggregatedApisOptions['makeHeaders'];
  readonly clock: Clock;
  readonly logger: Logger;
}

const STATUS_WRITE_DELAY_MS = 100;
const GRANULAR_CLAIMS_MINOR = 36;

/**
 * Extensions of the API by users: custom resource definitions, aggregated API servers and admission
 * webhooks. Follows their objects and updates the registry.
 */
export class Extensions {
  readonly #options: ExtensionsOptions;
  readonly #aggregated: AggregatedApis;
  readonly #definitions: DefinitionWatch;
  readonly #controller: DefinitionController;
  readonly #localServices: LocalServiceKeeper;
  readonly #cancels: (() => void)[] = [];
  readonly #listeners = new Set<() => void>();
  #served: ServedResources | undefined;
  #foreignOpenApi: ReadonlyMap<string, string> = new Map();
  #cancelWrite: (() => void) | undefined;
  #customTypes: readonly ResourceType[] | undefined;

  constructor(options: ExtensionsOptions) {
    this.#options = options;
    this.#aggregated = new AggregatedApis({
      objects: options.caches,
      outbound: options.aggregationOutbound,
      makeHeaders: options.makeHeaders,
      clock: options.clock,
      logger: options.logger,
    });
    this.#definitions = new DefinitionWatch({
      objects: options.caches,
      objectMeta: options.surface.type('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta') ?? ANY,
      ruleProblems: ruleProblemSteps,
      outbound: options.outbound,
      resolveService: (reference) => resolveService(options.caches, reference),
      nowMs: () => options.clock.nowMs(),
      onDefect: (name, error) => options.logger.warn('a definition cannot be served', { name, error }),
    });
    this.#controller = new DefinitionController(options);
    this.#localServices = new LocalServiceKeeper({ ...options, objects: options.caches });
  }

  /** Returns plugins in order: built-in, mutating webhooks, rights, validating webhooks. */
  admissionPlugins(): readonly AdmissionPlugin[] {
    const { caches, outbound, registry, logger, rbac, authorizer, surface } = this.#options;
    const webhooks = {
      objects: caches,
      outbound,
      equivalentTypes: (type: AdmissionType) => equivalentTypes(registry, type),
      compileMatchCondition: matchCondition,
      isKnownKind: (apiVersion: string, kind: string) =>
        registry.types.some((type) => type.kind === kind && groupVersion(type.group, type.version) === apiVersion),
      logger,
    };
    const builtIn = builtInAdmission(caches, authorizer);
    return [
      ...builtIn,
      mutatingWebhooks({
        ...webhooks,
        reinvokeBuiltIns: async (request) => {
          for (const plugin of builtIn) await plugin.mutate?.(request);
        },
      }),
      certificateRequester(),
      rbacEscalationPlugin(rbac, authorizer),
      policyParameterRights({ authorizer, objects: caches, registry }),
      claimRights({ authorizer, objects: caches, isGranular: surface.minor >= GRANULAR_CLAIMS_MINOR }),
      validatingWebhooks(webhooks),
    ];
  }

  /** Loads stored definitions, so that they are served from the first request on. */
  async loadDefinitions(): Promise<void> {
    this.#cancels.push(this.#definitions.onChange(() => this.#definitionsChanged()));
    this.#definitionsChanged();
    await this.#controller.start();
  }

  start(): void {
    const { registry } = this.#options;
    this.#cancels.push(
      registry.onChange(() => this.#servedChanged()),
      this.#aggregated.onChange(() => this.#aggregationChanged()),
    );
    this.#aggregated.start();
    this.#localServices.soon();
  }

  close(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancelWrite?.();
    this.#controller.close();
    this.#localServices.close();
    this.#definitions.close();
    this.#aggregated.close();
  }

  /** Returns everything that this server serves. The same object until a change. */
  served(): ServedResources {
    const { registry, surface } = this.#options;
    this.#served ??= {
      types: registry.types.filter(({ group, version }) => !this.#aggregated.find(group, version)),
      virtual: registry.virtual,
      aggregated: this.#aggregated.groupVersions(),
      order: surface.groups,
    };
    return this.#served;
  }

  openApiSchema(type: ResourceType): JsonObject | undefined {
    return this.#definitions.openApiSchema(type);
  }

  /** Returns whether a definition or an APIService explains that a peer serves a resource. */
  explains({ group, resource }: GroupResource): boolean {
    const isAggregated = this.#aggregated.remotes().some((each) => each.group === group);
    return isAggregated || this.#definitions.isOrWasServed(`${resource}.${group}`);
  }

  foreignOpenApi(): ReadonlyMap<string, string> {
    return this.#foreignOpenApi;
  }

  /** Proxies to an aggregated API server; undefined if no APIService names one. */
  reply(exchange: Exchange, user: User): Promise<Reply> | undefined {
    const { info } = exchange;
    const [group, version] = info.isResource ? [info.group, info.version] : groupVersionOf(info.path);
    const apiService = version === undefined ? undefined : this.#aggregated.find(group!, version);
    return apiService && this.#aggregated.proxy(exchange, apiService, user);
  }

  #definitionsChanged(): void {
    const types = this.#definitions.types();
    if (types === this.#customTypes) return;
    this.#customTypes = types;
    this.#options.registry.setCustom(types);
  }

  onServedChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #servedChanged(): void {
    this.#served = undefined;
    for (const listener of this.#listeners) listener();
  }

  #aggregationChanged(): void {
    this.#servedChanged();
    void this.#aggregated.openApi.v3Paths(this.#aggregated.remotes()).then((paths) => {
      this.#foreignOpenApi = paths;
      this.#served = undefined;
    });
    this.#cancelWrite ??= this.#options.clock.after(STATUS_WRITE_DELAY_MS, () => {
      this.#cancelWrite = undefined;
      void this.#writeStatuses();
    });
  }

  async #writeStatuses(): Promise<void> {
    const { client, logger } = this.#options;
    for (const { name, resourceVersion, conditions } of this.#aggregated.statusUpdates()) {
      const path = `/apis/apiregistration.k8s.io/v1/apiservices/${encodeURIComponent(name)}/status`;
      const patch = { metadata: { resourceVersion }, status: { conditions } } as unknown as JsonObject;
      const { status, body } = await client.request('PATCH', path, patch, 'application/merge-patch+json');
      // 409: another writer was faster; the next change retries.
      if (status >= 400 && status !== 409 && status !== 404)
        logger.warn("an APIService's status could not be written", { name, why: String(body['message']) });
    }
  }
}

/** Returns all types with the same stored objects: other versions, and events in two groups. */
function equivalentTypes(registry: TypeRegistry, type: AdmissionType): readonly ResourceType[] {
  return registry.types.filter((each) => each.storage.prefix === type.storage?.prefix);
}

function matchCondition(expression: string) {
  const condition = compileMatchCondition(expression);
  return ({ object, oldObject, request }: MatchVariables) => {
    const answer = condition.evaluate({ object: object ?? undefined, oldObject: oldObject ?? undefined, request });
    if ('error' in answer) throw new Error(answer.error);
    return answer.matches;
  };
}

/** `/apis/<group>/<version>` and what lies below it. */
function groupVersionOf(path: string): [string?, string?] {
  const [, prefix, group, version] = path.replace('/openapi/v3', '').split('/');
  return prefix === 'apis' && group && version ? [group, version] : [];
}
