import type { TestCertificate } from '../../../src/http/tls/pki.fixture.js';
import { type Certificates, makeCertificates } from '../certificates.js';
import { startSidecar } from '../conformance/subject.js';
import { AGGREGATED, eventually, type LogLine } from '../control-plane.js';
import { type Flags, startEmbedded, temporaryDirectory } from '../embedded-server.js';
import { type Answer, type Ask, ask } from '../https-client.js';

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

export interface DiscoveryGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: {
    readonly version: string;
    readonly resources: { readonly resource: string }[];
  }[];
}

/** `group/version/resource` of everything in an aggregated discovery document. */
export function resourcesOf(answer: Answer): string[] {
  return answer
    .json<{ items: DiscoveryGroup[] }>()
    .items.flatMap(({ metadata, versions }) =>
      versions.flatMap(({ version, resources }) =>
        resources.map(({ resource }) => `${metadata.name ?? ''}/${version}/${resource}`),
      ),
    );
}

/** `group/version` of everything in an aggregated discovery document. */
export function versionsOf(answer: Answer): string[] {
  return answer
    .json<{ items: DiscoveryGroup[] }>()
    .items.flatMap(({ metadata, versions }) => versions.map(({ version }) => `${metadata.name ?? ''}/${version}`));
}

/** A definition of a namespaced resource that accepts any content. */
export function definitionOf(group: string, plural: string, kind: string) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
