/**
 * A mixed-version Kubernetes control plane inside a test, for vitest, jest, node:test or any other test runner on
 * Node.js: API servers of several versions in the same process, on random ports, ready in about a second.
 *
 * @packageDocumentation
 */

export type { AccessRule, Caller, ControlPlaneAccess } from './access.js';
export type { DefinitionSource } from './crds.js';
export type { Duration } from './duration.js';
export type { DelayOptions, FailOptions, Fault, FaultOptions, Faults } from './faults.js';
export type { RecordedRequest, Recorder, WaitOptions } from './recorder.js';
export type { MatchedRequest, RequestMatch, TextMatch } from './request-match.js';
export { startControlPlane } from './start-control-plane.js';
export type {
  ControllerName,
  ControlPlane,
  ControlPlaneCredentials,
  ControlPlaneOptions,
  ControlPlaneServer,
  Heal,
  PartitionOptions,
  RollOptions,
  TestLogLevel,
} from './test-control-plane.js';
export type { AdmissionAnswer, AdmissionRequest, AdmissionVerdict, WebhookOption, WebhookRule } from './webhooks.js';
