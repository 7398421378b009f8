import { adminKubeconfig } from '../../compose/admin-kubeconfig.js';
import type { MadePki } from '../../compose/pki.js';
import type { ProxyTls } from '../../http/tls/proxy-tls.js';
import type { FrontDoor } from '../plane/front-door.js';
import { checkVersion } from './check-options.js';
import type { Network } from './network.js';
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
import { untilAgreed } from './until-agreed.js';

/** Name of the load balancer, as a context and as a side of a partition. */
export const FRONT = 'front';
/** Time for requests in flight at the close. */
const CLOSE_GRACE_MS = 1_000;

export interface TestPlaneOptions {
  readonly members: readonly TestMember[];
  readonly network: Network;
  readonly front: FrontDoor;
  readonly frontAddress: string;
  readonly pki: MadePki;
  readonly tls: ProxyTls;
  readonly folder: TemporaryFolder;
  /** Whether the mixed version proxy is on. */
  readonly proxy: boolean;
}

export class TestPlane implements ControlPlane {
  readonly kubeconfig: string;
  readonly front: { readonly url: string };
  readonly credentials: ControlPlaneCredentials;
  readonly #options: TestPlaneOptions;
  #closing: Promise<void> | undefined;

  constructor(options: TestPlaneOptions) {
    const { frontAddress, members, pki } = options;
    this.#options = options;
    this.front = { url: `https://${frontAddress}` };
    this.credentials = { ca: pki.ca.certPem, cert: pki.admin.certPem, key: pki.admin.keyPem };
    this.kubeconfig = adminKubeconfig([{ name: FRONT, address: frontAddress }, ...members], pki);
  }

  get servers(): readonly ControlPlaneServer[] {
    return this.#options.members;
  }

  kubeconfigFor(context: string): string {
    const { frontAddress, pki } = this.#options;
    const address = context === FRONT ? frontAddress : this.#member('kubeconfigFor', context, [FRONT]).address;
    return adminKubeconfig([{ name: context, address }], pki);
  }

  async roll({ to, server }: RollOptions): Promise<void> {
    this.#checkOpen('roll');
    checkVersion('roll', to);
    const chosen = server === undefined ? this.#options.members : [this.#member('roll', server)];
    for (const member of chosen) {
      this.#checkOpen('roll');
      await member.replace(to);
      await this.#settled();
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

  async #settled(): Promise<void> {
    await this.untilAgreed();
    await this.#options.front.look();
  }

  async #close(): Promise<void> {
    const { members, network, front, tls, folder } = this.#options;
    network.close();
    try {
      await front.close(CLOSE_GRACE_MS);
      await Promise.all(members.map((member) => member.close()));
    } finally {
      tls.close();
      folder.remove();
    }
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
