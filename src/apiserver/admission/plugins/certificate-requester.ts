import { childOrNew } from '../../builtin/fields.js';
import { userInfo } from '../../reviews/review-object.js';
import type { AdmissionPlugin } from '../admission.js';
import { created } from './refusal.js';

/** Sets the requester of a certificate request; values of the client are replaced. */
export function certificateRequester(): AdmissionPlugin {
  return {
    name: 'CertificateRequester',
    mutate: (request) => {
      const object = created(request, 'certificates.k8s.io', 'certificatesigningrequests');
      if (object === undefined) return;
      const spec = childOrNew(object, 'spec');
      for (const name of ['username', 'uid', 'groups', 'extra']) delete spec[name];
      Object.assign(spec, userInfo(request.user));
    },
  };
}
