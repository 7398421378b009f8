import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Backend } from '../../apiserver/storage/backend.js';
import { openEmbeddedBackend } from '../../apiserver/storage/engines/embedded/embedded-backend.js';
import { adminKubeconfig, type KubeconfigServer } from '../../compose/admin-kubeconfig.js';
import type { MadePki } from '../../compose/pki.js';
import type { ProxyTls } from '../../http/tls/proxy-tls.js';
import type { JsonObject } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import type { FrontDoor } from '../plane/front-door.js';
import { Accesses, type AccessRule, type Caller, type ControlPlaneAccess } from './access.js';
import { checkVersion } from './check-options.js';
import { establish, untilGone, untilServed } from './crds.js';
import type { Faults } from './faults.js';
import type { Network } from './network.js';
import type { Recorder } from './recorder.js';
import type { RequestMatch } from './request-match.js';
import { StartState } from './start-state.js';
import type { TemporaryFolder } from './temporary-folder.js';
import type {
  ControlPlane,
  ControlPlaneCredentials,
  ControlPlaneServer,
  Heal,
  PartitionOptions,
  RollOptions,
} from './test-control-plane.js';
import type { TestMember } from './test-member.js';
import { putObject, untilRevision, untilSeen } from './test-objects.js';
import type { Traffic } from './traffic.js';
import { untilAgreed } from './until-agreed.js';
import { WebhookServer } from './webhook-server.js';
import type { WebhookOption } from './webhooks.js';

/** Name of the load balancer, as a context and as a side of a partition. */
export const FRONT = 'front';
/** Time for requests in flight at the close. */
const CLOSE_GRACE_MS = 1_000;
/** Wait for servers to be ready at the load balancer. */
const READY_MS_MAX = 10_000;
const POLL_MS = 10;

export interface TestPlaneOptions {
  readonly members: readonly TestMember[];
  readonly network: Network;
  readonly front: FrontDoor;
  readonly frontAddress: string;
  readonly pki: MadePki;
  readonly tls: ProxyTls;
  readonly folder: TemporaryFolder;
  readonly traffic: Traffic;
  /** Whether the mixed version proxy is on. */
  readonly proxy: boolean;
}

/** Objects that are there from the start. */
export interface GivenObjects {
  readonly definitions: readonly JsonObject[];
  readonly webhooks: readonly WebhookOption[];
}

export class TestPlane implements ControlPlane {
  readonly kubeconfig: string;
  readonly front: { readonly url: string };
  readonly credentials: ControlPlaneCredentials;
  readonly faults: Faults;
  readonly #options: TestPlaneOptions;
  readonly #accesses: Accesses;
  #webhooks: WebhookServer | undefined;
  #store: Backend | undefined;
  #startState: StartState | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: TestPlaneOptions) {
    const { frontAddress, pki } = options;
    this.#options = options;
    this.front = { url: `https://${frontAddress}` };
    this.credentials = { ca: pki.ca.certPem, cert: pki.admin.certPem, key: pki.admin.keyPem };
    this.kubeconfig = adminKubeconfig(this.#contexts('kubeconfigFor'), pki);
    this.#accesses = new Accesses({
      servers: () => this.#running(),
      ca: pki.ca,
      contexts: (name) => this.#contexts('kubeconfigFor', name),
    });
    this.faults = this.#makeFaults();
  }

  /** Creates the objects of the start. Resolves when every server acts on them. */
  async prepare({ definitions, webhooks }: GivenObjects): Promise<void> {
    await this.#settled();
    const { folder, pki, members } = this.#options;
    await establish(members, definitions);
    if (webhooks.length > 0) {
      this.#webhooks = new WebhookServer(webhooks, pki.ca);
      for (const { collection, object } of await this.#webhooks.start()) {
        const what = `webhooks: ${nameOf(object)}`;
        await untilSeen(members, what, collection, await putObject(members, what, collection, object));
      }
    }
    if (definitions.length > 0) await this.untilAgreed();
    this.#store = await openEmbeddedBackend({ dataDir: join(folder.path, 'store') });
    this.#startState = await StartState.take(this.#store);
  }

  get servers(): readonly ControlPlaneServer[] {
    return this.#options.members;
  }

  kubeconfigFor(context: string): string {
    return adminKubeconfig(this.#contexts('kubeconfigFor', context), this.#options.pki);
  }

  async roll({ to, server }: RollOptions): Promise<void> {
    this.#checkOpen('roll');
    checkVersion('roll', to);
    const chosen = server === undefined ? this.#options.members : [this.#member('roll', server)];
    for (const member of chosen) {
      this.#checkOpen('roll');
      await member.replace(to);
      await this.#settled();
      await this.#startState?.adopt();
    }
  }

  async kill(server: string): Promise<void> {
    this.#checkOpen('kill');
    await this.#member('kill', server).kill();
  }

  async start(server: string): Promise<void> {
    this.#checkOpen('start');
    await this.#member('start', server).start();
    await this.#settled();
  }

  partition(oneSide: readonly string[], otherSide: readonly string[], options: PartitionOptions = {}): Heal {
    this.#checkOpen('partition');
    for (const name of [...oneSide, ...otherSide]) if (name !== FRONT) this.#member('partition', name, [FRONT]);
    const both = oneSide.find((name) => otherSide.includes(name));
    if (both !== undefined) throw new Error(`partition: ${both} cannot be on both sides.`);
    const end = this.#options.network.part({
      sides: [new Set(oneSide), new Set(otherSide)],
      hangs: options.connections === 'hang',
    });
    return async () => {
      end();
      if (!this.#closing) await this.#settled();
    };
  }

  async reset(): Promise<void> {
    this.#checkOpen('reset');
    const { definitions, goneDefinitions, revision } = await this.#startState!.restore();
    const servers = this.#running();
    await untilRevision(servers, 'reset', '/api/v1/configmaps', String(revision));
    await untilServed(servers, definitions);
    await untilGone(servers, goneDefinitions);
    if (definitions.length + goneDefinitions.length > 0) await this.#settled();
  }

  async as(who: Caller, rules: readonly AccessRule[]): Promise<ControlPlaneAccess> {
    this.#checkOpen('as');
    const access = await this.#accesses.make(who, rules);
    await this.#startState?.adopt();
    return access;
  }

  record(match?: RequestMatch): Recorder {
    this.#checkOpen('record');
    return this.#options.traffic.record(match);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Resolves when every server has read the surfaces of the others that it reaches. */
  async untilAgreed(): Promise<void> {
    const { members, network, proxy } = this.#options;
    if (proxy) await untilAgreed(members, { network, isClosed: () => this.#closing !== undefined });
  }

  /** Resolves when the servers know each other and the load balancer has all that it can reach; the next one may stop then. */
  async #settled(): Promise<void> {
    await this.untilAgreed();
    const { members, front, network } = this.#options;
    const expected = members.filter(({ isRunning, name }) => isRunning && network.passes(FRONT, name));
    const beganMs = performance.now();
    for (;;) {
      await front.look();
      if (this.#closing || expected.every(({ address }) => front.isReady(address))) return;
      // A fault of the test may keep one from being ready.
      if (performance.now() - beganMs > READY_MS_MAX) return;
      await delay(POLL_MS);
    }
  }

  async #close(): Promise<void> {
    const { members, network, front, tls, folder, traffic } = this.#options;
    network.close();
    traffic.clear();
    try {
      await front.close(CLOSE_GRACE_MS);
      await Promise.all(members.map((member) => member.close()));
      await this.#webhooks?.close();
      await this.#store?.close();
    } finally {
      tls.close();
      folder.remove();
    }
  }

  #makeFaults(): Faults {
    const { traffic } = this.#options;
    return {
      expire: (...args) => traffic.expire(...args),
      conflict: (...args) => traffic.conflict(...args),
      fail: (...args) => traffic.fail(...args),
      delay: (...args) => traffic.delay(...args),
      hideFromDiscovery: (...args) => traffic.hideFromDiscovery(...args),
      cutWatches: (...args) => traffic.cutWatches(...args),
      clear: () => traffic.clear(),
      down: async (server) => {
        await this.kill(server);
        return () => this.start(server);
      },
    };
  }

  /** All contexts of a kubeconfig, the front door first, or the one of that name. */
  #contexts(method: string, name?: string): readonly KubeconfigServer[] {
    const { frontAddress, members } = this.#options;
    const front = { name: FRONT, address: frontAddress };
    if (name === undefined) return [front, ...members];
    return [name === FRONT ? front : this.#member(method, name, [FRONT])];
  }

  #running(): readonly TestMember[] {
    return this.#options.members.filter(({ isRunning }) => isRunning);
  }

  #member(method: string, name: string, also: readonly string[] = []): TestMember {
    const { members } = this.#options;
    const found = members.find((member) => member.name === name);
    if (found) return found;
    const names = [...also, ...members.map((member) => member.name)];
    throw new Error(`${method}: there is no server ${name}; there are ${names.join(', ')}.`);
  }

  #checkOpen(method: string): void {
    if (this.#closing) throw new Error(`${method}: this control plane was closed.`);
  }
}
