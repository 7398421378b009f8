import { addressOfUrl } from '../../base/address.js';
import type { PeerSource } from './peer-source.js';
import type { Sighting } from './sightings.js';

/** Source of the peers in flags. Throws on a URL that is not https://host:port. */
export function createStaticSource(urls: readonly string[]): PeerSource {
  const sightings = urls.map((url): Sighting => {
    const address = addressOfUrl(url);
    if (address === undefined) throw new Error(`peer ${JSON.stringify(url)} is not of the form https://host:port`);
    return { source: 'static', kind: 'kube-apiserver', address };
  });
  return {
    name: 'static',
    start: (onChange) => queueMicrotask(onChange),
    sightings: () => sightings,
    answered: () => true,
    close: async () => {},
  };
}
