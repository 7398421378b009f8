import type { JsonObject } from '../../../kube/json.js';
import { childOrNew } from '../../builtin/fields.js';
import type { AdmissionPlugin } from '../admission.js';
import { isAbout } from './refusal.js';

/** A request for a certificate says who asks, whatever the client writes. */
export function certificateRequester(): AdmissionPlugin {
  return {
    name: 'CertificateRequester',
    mutate: (request) => {
      const { object, operation, user } = request;
      const isRequest = isAbout(request, 'certificates.k8s.io', 'certificatesigningrequests');
      if (!isRequest || operation !== 'CREATE' || object === undefined) return;
      const spec = childOrNew(object, 'spec');
      for (const name of ['username', 'uid', 'groups', 'extra']) delete spec[name];
      const extra: JsonObject = Object.fromEntries([...user.extra].map(([key, values]) => [key, [...values]]));
      Object.assign(spec, {
        username: user.name,
        ...(user.uid === '' ? {} : { uid: user.uid }),
        groups: [...user.groups],
        ...(user.extra.size === 0 ? {} : { extra }),
      });
    },
  };
}
