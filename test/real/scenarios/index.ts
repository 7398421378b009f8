import type { Scenario } from '../scenario.js';
import { newerApiThroughA } from './01-newer-api.js';
import { mergedDiscovery } from './02-discovery.js';
import { subresourceReroute } from './03-subresource.js';
import { jobsThroughA } from './04-batch.js';
import { cameAndWent } from './05-crd-and-apiservice.js';
import { identity } from './06-identity.js';
import { peersGone } from './07-peers-gone.js';
import { localRestart } from './08-local-restart.js';
import { drain } from './09-drain.js';
import { nativeInterplay } from './10-native.js';
import { switchedOff } from './11-switched-off.js';
import { exec } from './12-exec.js';
import { badStart } from './13-bad-start.js';
import { badPeers } from './14-bad-peers.js';
import { badRequests } from './15-bad-requests.js';
import { explainAndValidate } from './16-explain-validate.js';
import { oldAndNewKubectl } from './17-old-and-new-kubectl.js';
import { clientNode } from './18-client-node.js';
import { everyDocument } from './19-every-document.js';
import { goldenKubectl } from './20-golden-kubectl.js';
import { badInput } from './21-bad-input.js';
import { controllerManager } from './22-controller-manager.js';
import { informers } from './23-informers.js';
import {
  embeddedCameAndWent,
  embeddedClientNode,
  embeddedDiscovery,
  embeddedExplain,
  embeddedJobs,
  embeddedJobsOnEtcd,
  embeddedNewerApi,
} from './24-embedded.js';
import { embeddedSharedStore } from './28-embedded-shared-store.js';
import { inspectCommands } from './40-inspect.js';
import { rehearsal } from './41-rehearse.js';
import { rehearsalWithControllers } from './42-rehearse-controllers.js';
import { clientGoInformers } from './43-client-go-informers.js';
import { skewBelowTheVerb } from './44-skew-below-the-verb.js';
import { explainDescriptions } from './45-explain-descriptions.js';
import { manyGroups } from './46-many-groups.js';
import { upstreamTests } from './47-upstream-tests.js';
import { controllerManagerWatches } from './48-controller-manager-watches.js';
import { passthrough } from './49-passthrough.js';
import { clients } from './50-clients.js';
import { waysOfClients } from './51-ways-of-clients.js';
import { storeAndFrontProxy } from './52-store-and-front-proxy.js';
import { gate } from './53-gate.js';
import { nativeAlone } from './54-native-alone.js';
import { envtestSuite } from './55-envtest.js';

/** In running order. A new scenario is a file and a line here. */
export const SCENARIOS: readonly Scenario[] = [
  newerApiThroughA,
  mergedDiscovery,
  subresourceReroute,
  jobsThroughA,
  cameAndWent,
  identity,
  peersGone,
  localRestart,
  drain,
  nativeInterplay,
  switchedOff,
  exec,
  badStart,
  badPeers,
  badRequests,
  explainAndValidate,
  oldAndNewKubectl,
  clientNode,
  everyDocument,
  goldenKubectl,
  badInput,
  controllerManager,
  informers,
  embeddedNewerApi,
  embeddedDiscovery,
  embeddedJobs,
  embeddedCameAndWent,
  embeddedSharedStore,
  embeddedJobsOnEtcd,
  embeddedExplain,
  embeddedClientNode,
  inspectCommands,
  rehearsal,
  rehearsalWithControllers,
  clientGoInformers,
  skewBelowTheVerb,
  explainDescriptions,
  manyGroups,
  upstreamTests,
  controllerManagerWatches,
  passthrough,
  clients,
  waysOfClients,
  nativeAlone,
  envtestSuite,
  storeAndFrontProxy,
  gate,
];
