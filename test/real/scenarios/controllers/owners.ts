import { type ApiClient, metadataOf } from '../../rig/api-client.js';
import { eventually } from '../../rig/eventually.js';
import type { KubeObject } from '../../rig/http-client.js';

const NAMESPACE = 'owners';
const PATIENCE = { timeoutMs: 60_000 };

/** Owner references from kind to kind, also from and to custom resources, and to an owner who is not there. */
export async function ownersAcrossKinds(api: ApiClient): Promise<void> {
  await api.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const core = `/api/v1/namespaces/${NAMESPACE}`;
  const gadgets = `/apis/example.test/v1/namespaces/${NAMESPACE}/gadgets`;
  const gadget = await api.create(gadgets, {
    apiVersion: 'example.test/v1',
    kind: 'Gadget',
    metadata: { name: 'owner' },
  });
  const config = await api.create(`${core}/configmaps`, { metadata: { name: 'owned', ...ownedBy(gadget) } });
  const secret = await api.create(`${core}/secrets`, { metadata: { name: 'owned', ...ownedBy(config) } });
  await api.create(gadgets, {
    apiVersion: 'example.test/v1',
    kind: 'Gadget',
    metadata: { name: 'grandchild', ...ownedBy(secret) },
  });
  const second = await api.create(`${core}/configmaps`, { metadata: { name: 'second-owner' } });
  await api.create(`${core}/secrets`, { metadata: { name: 'of-two', ...ownedBy(config, second) } });
  await api.create(`${core}/configmaps`, {
    metadata: { name: 'of-nobody', ...ownedBy({ ...config, metadata: { ...config.metadata, uid: NO_UID } }) },
  });
  await isGone(api, `${core}/configmaps/of-nobody`);
  await api.remove(`${gadgets}/owner`, 'Background');
  await isGone(api, `${core}/configmaps/owned`);
  await isGone(api, `${core}/secrets/owned`);
  await isGone(api, `${gadgets}/grandchild`);
  await eventually(
    'who has a second owner stays, with that one only',
    async () => {
      const references = metadataOf(await api.get(`${core}/secrets/of-two`)).ownerReferences ?? [];
      return references.length === 1 && references[0]?.uid === second.metadata?.uid;
    },
    PATIENCE,
  );
}

const NO_UID = '00000000-1111-4222-8333-444444444444';

export function ownedBy(...owners: KubeObject[]): object {
  return {
    ownerReferences: owners.map(({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      name: metadata?.name,
      uid: metadata?.uid,
    })),
  };
}

function isGone(api: ApiClient, path: string): Promise<boolean> {
  return eventually(`${path} is collected`, async () => !(await api.exists(path)), PATIENCE);
}
