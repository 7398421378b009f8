import { certificateRequestSubjects } from '../../../http/tls/certificate-request.js';
import { DerError } from '../../../http/tls/der.js';
import { type JsonObject, jsonEqual } from '../../../kube/json.js';
import type { Authorizer } from '../../authorization/authorizer.js';
import { hasSignerRight } from '../../authorization/signer-right.js';
import { child, text } from '../../builtin/fields.js';
import { MASTERS_GROUP } from '../../contracts/user.js';
import { goQuote } from '../../values/go-quote.js';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';
import { onlyCollectorFieldsDiffer } from '../rights/escalation.js';
import { isAbout, refused } from './refusal.js';

const GROUP = 'certificates.k8s.io';
const REQUESTS = 'certificatesigningrequests';
const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

const isPartOfRequest = ({ type, subresource }: AdmissionRequest, part: string): boolean =>
  type.group === GROUP && type.resource === REQUESTS && subresource === part;

const signerOf = (object: JsonObject | undefined): string => text(child(object, 'spec'), 'signerName');

/** Requires the right to `approve` for the signer of an approved or denied request. */
export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    validate: (request) => {
      if (!isPartOfRequest(request, 'approval') || request.operation !== 'UPDATE') return;
      const signer = signerOf(request.oldObject);
      if (hasSignerRight(authorizer, request.user, 'approve', signer)) return;
      throw refused(request, `user not permitted to approve requests with signerName ${goQuote(signer)}`);
    },
  };
}

/** Requires the right to `sign` for the signer if the certificate or conditions change. */
export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    validate: (request) => {
      if (!isPartOfRequest(request, 'status') || request.operation !== 'UPDATE') return;
      const [status, before] = [child(request.object, 'status'), child(request.oldObject, 'status')];
      const isUntouched =
        text(status, 'certificate') === text(before, 'certificate') &&
        jsonEqual(status?.['conditions'] ?? [], before?.['conditions'] ?? []);
      const signer = signerOf(request.oldObject);
      if (isUntouched || hasSignerRight(authorizer, request.user, 'sign', signer)) return;
      throw refused(request, `user not permitted to sign requests with signerName ${goQuote(signer)}`);
    },
  };
}

/** Requires the right to `attest` for the signer of a trust bundle that is written. */
export function clusterTrustBundleAttest(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'ClusterTrustBundleAttest',
    validate: (request) => {
      const { operation, object, oldObject, user } = request;
      if (!isAbout(request, GROUP, 'clustertrustbundles') || object === undefined) return;
      const signer = signerOf(object);
      if (signer === '' || (operation === 'UPDATE' && onlyCollectorFieldsDiffer(object, oldObject!))) return;
      if (hasSignerRight(authorizer, user, 'attest', signer)) return;
      throw refused(request, `user not permitted to attest for signerName ${goQuote(signer)}`);
    },
  };
}

/** Refuses requests for client certificates of the group that may do everything. */
export function certificateSubjectRestriction(): AdmissionPlugin {
  return {
    name: 'CertificateSubjectRestriction',
    validate: (request) => {
      if (!isAbout(request, GROUP, REQUESTS) || request.operation !== 'CREATE') return;
      if (signerOf(request.object) !== CLIENT_SIGNER) return;
      if (!organizationsOf(request).includes(MASTERS_GROUP)) return;
      throw refused(request, `use of ${CLIENT_SIGNER} signer with ${MASTERS_GROUP} group is not allowed`);
    },
  };
}

function organizationsOf(request: AdmissionRequest): string[] {
  const pem = Buffer.from(text(child(request.object, 'spec'), 'request'), 'base64').toString('latin1');
  try {
    return certificateRequestSubjects(pem).flatMap(({ organizations }) => organizations);
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    throw refused(request, `failed to parse CSR: ${error.message}`);
  }
}
