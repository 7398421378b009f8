import type { JsonObject } from '../../kube/json.js';
import type { User } from '../contracts/user.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { Strategy } from '../registry/strategy.js';

/** The parts of a resource that admission uses. Unstored ones, such as reviews, have no more. */
export interface AdmissionType
  extends Pick<
    ResourceType,
    'group' | 'version' | 'resource' | 'kind' | 'namespaced' | 'subresources' | 'origin' | 'schema' | 'conversion'
  > {
  readonly strategy: Pick<Strategy, 'setDefaults'>;
  /** Undefined for a resource that is never stored. */
  readonly storage?: Pick<ResourceType['storage'], 'prefix'>;
}

/** A change before it is stored. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly type: AdmissionType;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty for mutating plugins if the server makes the name; set for validating ones. */
  name: string;
  /** The name in the path, empty for a POST to a collection and for a deletion of many. */
  readonly pathName: string;
  /** The verb that the request was authorized with: `patch` and `update` both lead to UPDATE. */
  readonly verb: string;
  /** In the version of `type`; undefined for DELETE. Plugins replace it, or change it in place. */
  object: JsonObject | undefined;
  /** The stored object; undefined for CREATE. Must not be changed. */
  readonly oldObject: JsonObject | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions, with kind and apiVersion; null for CONNECT. */
  readonly options: JsonObject | null;
  readonly dryRun: boolean;
  readonly user: User;
  /** Adds a `Warning` header to the answer. */
  warn(text: string): void;
}

/**
 * One step before a change is stored. All plugins mutate (change the object) before the first
 * validates (refuses with a StatusError). Both may throw.
 */
export interface AdmissionPlugin {
  readonly name: string;
  mutate?(request: AdmissionRequest): Promise<void> | void;
  validate?(request: AdmissionRequest): Promise<void> | void;
}
