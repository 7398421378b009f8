import type { Logger } from '../../../base/logger.js';
import type { JsonObject } from '../../../kube/json.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import type { User } from '../../contracts/user.js';
import type { Outbound } from '../../outbound/outbound.js';
import type { AdmissionRequest, AdmissionType } from '../admission.js';

/** What the expression of a match condition sees. */
export interface MatchVariables {
  readonly object: JsonObject | null;
  readonly oldObject: JsonObject | null;
  /** The review's request without the objects. */
  readonly request: JsonObject;
  /** Whose rights `authorizer` asks about. */
  readonly user: User;
}

/** Throws with Kubernetes' words when the expression does not evaluate. */
export type MatchConditionCheck = (variables: MatchVariables) => boolean | Promise<boolean>;

export interface WebhookDeps {
  readonly objects: ObjectReader;
  readonly outbound: Outbound;
  /** Every served type of the objects that `type` serves, `type` itself included, in other versions and groups. */
  readonly equivalentTypes: (type: AdmissionType) => readonly AdmissionType[];
  /** Throws with Kubernetes' words when the expression does not compile. */
  readonly compileMatchCondition: (expression: string) => MatchConditionCheck;
  readonly logger: Logger;
  /** Whether some server-side type has that kind; a patch must not turn an object into another kind. */
  readonly isKnownKind?: (apiVersion: string, kind: string) => boolean;
  /**
   * Runs the mutating plugins before this one again. Called once, between the two rounds of mutating webhooks, when the
   * first changed the object: what they derive may have to change with it.
   */
  readonly reinvokeBuiltIns?: (request: AdmissionRequest) => Promise<void>;
}
