/**
 * A mixed-version Kubernetes control plane inside a test, for vitest, jest, node:test or any other test runner on
 * Node.js: API servers of several versions in the same process, on random ports, ready in about a second.
 *
 * @packageDocumentation
 */

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
