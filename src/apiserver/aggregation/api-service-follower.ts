import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.js';
import type { ResourceDiscovery } from '../../kube/discovery.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { AggregationOutbound } from './aggregation-outbound.js';
import { availableCondition, type RemoteApiService } from './api-service.js';
import { type Availability, checkAvailability } from './availability.js';
import type { RemoteDiscovery } from './remote-discovery.js';
import { endpointSlicesOf } from './service-address.js';

export const CHECK_INTERVAL_MS = 30_000;
const RETRY_FIRST_MS = 1_000;

export interface FollowerParts {
  readonly objects: ObjectReader;
  readonly outbound: AggregationOutbound;
  readonly discovery: RemoteDiscovery;
  readonly clock: Clock;
  /** Runs a check with a bound on concurrent ones. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
  /** Called after each check, with whether the result has changed. */
  readonly onChecked: (changed: boolean) => void;
}

/** Checks one remote APIService, availability and discovery, at intervals until it is closed. */
export class ApiServiceFollower {
  readonly #parts: FollowerParts;
  #apiService: RemoteApiService;
  #availability: Availability | undefined;
  #resources: readonly ResourceDiscovery[] = [];
  #freshness: 'Current' | 'Stale' = 'Stale';
  #unwritten = false;
  #fingerprint: string;
  #failures = 0;
  #checking = false;
  #checkAgain = false;
  #closed = false;
  #callOff: () => void = () => {};

  constructor(parts: FollowerParts, apiService: RemoteApiService) {
    this.#parts = parts;
    this.#apiService = apiService;
    this.#fingerprint = this.#wayThere();
    this.check();
  }

  get apiService(): RemoteApiService {
    return this.#apiService;
  }

  /** The result of this server's last check; undefined before the first one. */
  get availability(): Availability | undefined {
    return this.#availability;
  }

  /** Before the first check, the stored condition counts. */
  get isAvailable(): boolean {
    return (this.#availability ?? availableCondition(this.#apiService))?.status === 'True';
  }

  /**
   * True until the result of a check was written. It is written once: if another server overwrites
   * it, it is written again only after the next check, so that two servers do not correct each
   * other all the time.
   */
  get unwritten(): boolean {
    return this.#unwritten;
  }

  written(): void {
    this.#unwritten = false;
  }

  get resources(): readonly ResourceDiscovery[] {
    return this.#resources;
  }

  get freshness(): 'Current' | 'Stale' {
    return this.#freshness;
  }

  /** Takes a changed APIService, Service or endpoints; checks at once if the target changed. */
  update(apiService: RemoteApiService): void {
    this.#apiService = apiService;
    const fingerprint = this.#wayThere();
    if (fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    this.#failures = 0;
    this.check();
  }

  close(): void {
    this.#closed = true;
    this.#callOff();
  }

  check(): void {
    this.#callOff();
    if (this.#closed) return;
    if (this.#checking) {
      this.#checkAgain = true;
      return;
    }
    this.#checking = true;
    void this.#parts
      .inTurn(() => this.#look())
      .finally(() => {
        this.#checking = false;
        if (this.#closed) return;
        const again = this.#checkAgain;
        this.#checkAgain = false;
        if (again) this.check();
        else this.#callOff = this.#parts.clock.after(this.#pauseMs(), () => this.check());
      });
  }

  async #look(): Promise<void> {
    if (this.#closed) return;
    const { objects, outbound, discovery, onChecked } = this.#parts;
    const availability = await checkAvailability(objects, outbound, this.#apiService);
    let resources: readonly ResourceDiscovery[] | undefined;
    if (availability.status === 'True') {
      resources = await discovery.resources(this.#apiService).catch(() => undefined);
    }
    if (this.#closed) return;
    const before = [this.#availability, this.#freshness, this.#resources];
    this.#availability = availability;
    this.#failures = resources ? 0 : this.#failures + 1;
    // The last known resources stay in discovery, as stale.
    this.#freshness = resources ? 'Current' : 'Stale';
    if (resources) this.#resources = resources;
    this.#unwritten = true;
    onChecked(!isDeepStrictEqual(before, [this.#availability, this.#freshness, this.#resources]));
  }

  #pauseMs(): number {
    if (this.#failures === 0) return CHECK_INTERVAL_MS;
    return Math.min(RETRY_FIRST_MS * 2 ** Math.min(this.#failures - 1, 10), CHECK_INTERVAL_MS);
  }

  /** Returns everything that decides the target of a request. */
  #wayThere(): string {
    const { objects } = this.#parts;
    const { service, caBundle, insecureSkipTlsVerify, group, version } = this.#apiService;
    const { namespace, name } = service;
    const found = objects.get({ group: '', resource: 'services' }, namespace, name);
    const endpoints = objects.get({ group: '', resource: 'endpoints' }, namespace, name);
    const slices = endpointSlicesOf(objects, service).map(({ endpoints: each, ports }) => [each, ports]);
    return JSON.stringify([
      [service, caBundle, insecureSkipTlsVerify, group, version],
      [found?.['spec'], endpoints?.['subsets'], slices],
    ]);
  }
}
