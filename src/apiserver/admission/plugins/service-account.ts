import { randomInt } from 'node:crypto';
import type { JsonObject } from '../../../kube/json.js';
import { child, childOrNew, fill, has, objects as objectsOf, text, textMap } from '../../builtin/fields.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import type { AdmissionPlugin } from '../admission.js';
import { created, refused } from './refusal.js';

const SERVICE_ACCOUNTS = { group: '', resource: 'serviceaccounts' };
const VOLUME_PREFIX = 'kube-api-access-';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
/** An hour and 7 s, by which kube-apiserver recognises such tokens. */
const TOKEN_SECONDS = 3_607;
/** Without vowels and look-alikes, so that no words result, as in Kubernetes. */
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** Sets the service account of new pods, and mounts its token unless pod or account opts out. */
export function serviceAccount(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    mutate: (request) => {
      const pod = created(request, '', 'pods');
      if (pod === undefined) return;
      const spec = childOrNew(pod, 'spec');
      if (Object.hasOwn(textMap(child(pod, 'metadata'), 'annotations'), MIRROR_ANNOTATION)) {
        if (text(spec, 'serviceAccountName') === '') return;
        throw refused(request, 'a mirror pod may not reference service accounts');
      }
      fill(spec, { serviceAccountName: 'default' });
      const name = text(spec, 'serviceAccountName');
      spec['serviceAccount'] = name;
      const account = objects.get(SERVICE_ACCOUNTS, request.namespace, name);
      if (account === undefined) {
        const what = `${request.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`;
        throw refused(request, `error looking up service account ${what}`);
      }
      if (wantsToken(account, spec)) mountToken(spec);
      const secrets = objectsOf(account, 'imagePullSecrets');
      if (objectsOf(spec, 'imagePullSecrets').length === 0 && secrets.length > 0) {
        spec['imagePullSecrets'] = secrets.map((secret) => ({ name: text(secret, 'name') }));
      }
    },
  };
}

/** The pod decides, then the account; the default is true. */
function wantsToken(account: JsonObject, spec: JsonObject): boolean {
  for (const source of [spec, account]) {
    if (has(source, 'automountServiceAccountToken')) return source['automountServiceAccountToken'] === true;
  }
  return true;
}

function mountToken(spec: JsonObject): void {
  const volumes = objectsOf(spec, 'volumes');
  const existing = volumes.find((volume) => text(volume, 'name').startsWith(VOLUME_PREFIX));
  const name = existing === undefined ? `${VOLUME_PREFIX}${suffix()}` : text(existing, 'name');
  let isNeeded = false;
  for (const container of [...objectsOf(spec, 'initContainers'), ...objectsOf(spec, 'containers')]) {
    const mounts = objectsOf(container, 'volumeMounts');
    if (mounts.some((mount) => text(mount, 'mountPath') === MOUNT_PATH)) continue;
    container['volumeMounts'] = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
    isNeeded = true;
  }
  if (existing === undefined && isNeeded) spec['volumes'] = [...volumes, { name, projected: tokenSource() }];
}

function tokenSource(): JsonObject {
  return {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  };
}

function suffix(): string {
  return Array.from({ length: 5 }, () => SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)]).join('');
}
