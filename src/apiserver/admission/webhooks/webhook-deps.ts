import type { Logger } from '../../../base/logger.js';
import type { JsonObject } from '../../../kube/json.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import type { User } from '../../contracts/user.js';
import type { Outbound } from '../../outbound/outbound.js';
import type { AdmissionRequest, AdmissionType } from '../admission.js';

/** Variables of the expression of a match condition. */
export interface MatchVariables {
  readonly object: JsonObject | null;
  readonly oldObject: JsonObject | null;
  /** The request of the review without the objects. */
  readonly request: JsonObject;
  /** The user whose rights `authorizer` checks. */
  readonly user: User;
}

/** Throws with Kubernetes' message if the evaluation fails. */
export type MatchConditionCheck = (variables: MatchVariables) => boolean | Promise<boolean>;

export interface WebhookDeps {
  readonly objects: ObjectReader;
  readonly outbound: Outbound;
  /** Returns all types, of any version and group, that serve the same objects, including `type`. */
  readonly equivalentTypes: (type: AdmissionType) => readonly AdmissionType[];
  /** Throws with Kubernetes' message if the expression does not compile. */
  readonly compileMatchCondition: (expression: string) => MatchConditionCheck;
  readonly logger: Logger;
  /** Returns whether a registered type has that kind; a patch must not change kinds. */
  readonly isKnownKind?: (apiVersion: string, kind: string) => boolean;
  /**
   * Runs the built-in mutating plugins again. Called once, between the two rounds of mutating
   * webhooks, if the first one changed the object: values that they derive may have to change with
   * it.
   */
  readonly reinvokeBuiltIns?: (request: AdmissionRequest) => Promise<void>;
}
