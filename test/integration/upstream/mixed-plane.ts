import type { TestCertificate } from '../../../src/http/tls/pki.fixture.js';
import { type Certificates, makeCertificates } from '../certificates.js';
import { startSidecar } from '../conformance/subject.js';
import { AGGREGATED, eventually, type LogLine } from '../control-plane.js';
import { type Flags, startEmbedded, temporaryDirectory } from '../embedded-server.js';
import { type Answer, type Ask, ask } from '../https-client.js';
import { definitionOf, versionsOf } from './discovery-groups.js';

/** Flags of a member: those of its API server, and those of the chain before it. */
export interface MemberFlags {
  readonly api?: Flags;
  readonly chain?: Flags;
}

/** One server of a control plane, as clients see it. */
export interface MixedMember {
  readonly name: string;
  readonly port: number;
  readonly log: readonly LogLine[];
  /** Stops the chain and the API server behind it. */
  stop(): Promise<void>;
}

export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const JOBS = '/apis/batch/v1/namespaces/default/jobs';

/** Flags of a server without a group-version that others serve. */
export const WITHOUT_BATCH: MemberFlags = { api: { 'runtime-config': 'batch/v1=false' } };
export const WITHOUT_APPS: MemberFlags = { api: { 'runtime-config': 'apps/v1=false' } };

export const JOB = {
  metadata: { name: 'test-job' },
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.test/nothing' }] } },
  },
};

export type HostName = 'upstream' | 'embedded';
export const HOSTS: readonly HostName[] = ['upstream', 'embedded'];

/** Long enough that no server departs on a busy machine; tests that want a departure set their own. */
const PATIENT: Flags = { 'peer-gone-after': '30s' };
const PROXY_OFF: Flags = { 'feature-gates': 'UnknownVersionInteroperabilityProxy=false', 'peer-ca-file': '' };

/**
 * A control plane of API servers on one store that serve different APIs (`--runtime-config`), all with the same host. With
 * the upstream host, the API server is a `straddle apiserver` with the mixed version proxy switched off, behind a sidecar.
 */
export class MixedPlane {
  readonly certificates: Certificates = makeCertificates();
  readonly admin: TestCertificate = this.certificates.user('admin', 'system:masters');
  readonly #store = temporaryDirectory();
  readonly #members: MixedMember[] = [];

  constructor(readonly host: HostName) {}

  async add(name: string, { api = {}, chain = {} }: MemberFlags = {}): Promise<MixedMember> {
    const log: LogLine[] = [];
    const own = { ...PATIENT, ...chain, 'server-name': name };
    const member =
      this.host === 'embedded'
        ? await this.#addEmbedded({ ...api, ...own }, log)
        : await this.#addSidecar(api, own, log);
    const added = { name, log, ...member };
    this.#members.push(added);
    return added;
  }

  /** Server a without apps/v1 and server b without batch/v1, once both show both groups. */
  async addTwo(): Promise<readonly [MixedMember, MixedMember]> {
    const both = [await this.add('a', WITHOUT_APPS), await this.add('b', WITHOUT_BATCH)] as const;
    for (const member of both)
      await eventually(
        `apps/v1 and batch/v1 in the merged discovery of ${member.name}`,
        () => this.discovery(member),
        (answer) => answer.status === 200 && ['apps/v1', 'batch/v1'].every((each) => versionsOf(answer).includes(each)),
      );
    return both;
  }

  /** Makes the definition of a resource at one server. */
  async define(member: MixedMember, group: string, plural: string): Promise<void> {
    const made = await this.ask(member, DEFINITIONS, { method: 'POST', body: definitionOf(group, plural, 'TestCrd') });
    if (made.status !== 201) throw new Error(`${plural}.${group}: ${made.text}`);
  }

  async #addEmbedded(flags: Flags, log: LogLine[]) {
    const server = await startEmbedded(this.certificates, this.#store.path, flags, log);
    return { port: server.port, stop: () => server.close() };
  }

  async #addSidecar(api: Flags, chain: Flags, log: LogLine[]) {
    const behind = await startEmbedded(this.certificates, this.#store.path, {
      ...api,
      ...PROXY_OFF,
      'server-name': `behind-${chain['server-name']}`,
    });
    const sidecar = await startSidecar(this.certificates, behind, chain, log);
    const stop = async (): Promise<void> => {
      await sidecar.close();
      await behind.close();
    };
    return { port: sidecar.port, stop };
  }

  /** As an administrator, unless the options name another user. */
  ask({ port }: { readonly port: number }, path: string, options: Ask = {}): Promise<Answer> {
    return ask({ port, ca: this.certificates.ca.pem }, path, { as: this.admin, ...options });
  }

  discovery(member: MixedMember, accept = AGGREGATED, path = '/apis'): Promise<Answer> {
    return this.ask(member, path, { headers: { Accept: accept } });
  }

  /** Waits until a path is answered with 200 by this member. */
  served(member: MixedMember, path: string): Promise<Answer> {
    return eventually(
      `${path} to be served through ${member.name}`,
      () => this.ask(member, path),
      ({ status }) => status === 200,
    );
  }

  async metrics(member: MixedMember): Promise<string> {
    return (await this.ask(member, '/metrics')).text;
  }

  async close(): Promise<void> {
    // One after another: a sidecar deletes its lease through a server that still runs.
    for (const member of this.#members) await member.stop();
    this.#store.remove();
    this.certificates.remove();
  }
}
