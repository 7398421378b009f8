import type { Exchange, Reply } from '../../http/exchange.js';
import type { ServedResources } from '../registry/served-resources.js';
import type { OpenApiSources } from './openapi-document.js';
import { OpenApiV3, openApiV3Reply } from './openapi-v3.js';
import { DiscoveryDocuments, type DiscoveryOptions, discoveryReply } from './served-discovery.js';
import { OpenApiV2, openApiV2Reply } from './served-openapi-v2.js';

/** Discovery and OpenAPI of the resources that this server serves at the moment. */
export class ServedDocuments {
  readonly #served: () => ServedResources;
  readonly #options: DiscoveryOptions;
  readonly #v3: OpenApiV3;
  readonly #v2: OpenApiV2;
  readonly #foreign: () => ReadonlyMap<string, string>;
  #current: { readonly of: ServedResources; readonly discovery: DiscoveryDocuments } | undefined;

  constructor(options: {
    /** Returns the same object until a change. */
    readonly served: () => ServedResources;
    readonly discovery: DiscoveryOptions;
    readonly openApi: OpenApiSources;
    /** Returns the OpenAPI documents of aggregated API servers: index path → URL. */
    readonly foreign: () => ReadonlyMap<string, string>;
  }) {
    this.#served = options.served;
    this.#options = options.discovery;
    this.#foreign = options.foreign;
    this.#v3 = new OpenApiV3(options.openApi);
    this.#v2 = new OpenApiV2(this.#v3);
  }

  async reply(exchange: Exchange): Promise<Reply | undefined> {
    const discovery = this.#discovery();
    return (
      (await discoveryReply(exchange, discovery)) ??
      (await openApiV3Reply(exchange, this.#v3)) ??
      (await openApiV2Reply(exchange, this.#v2))
    );
  }

  #discovery(): DiscoveryDocuments {
    const served = this.#served();
    if (this.#current?.of !== served) {
      this.#current = { of: served, discovery: new DiscoveryDocuments(served, this.#options) };
      this.#v3.update(served, this.#foreign());
    }
    return this.#current.discovery;
  }
}
