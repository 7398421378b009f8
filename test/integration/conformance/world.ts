import type { TestCertificate } from '../../../src/http/tls/pki.fixture.js';
import type { Certificates } from '../certificates.js';
import type { Answer, Ask } from '../https-client.js';
import type { Subject } from './subject.js';

/** Surroundings of all parts of the suite. Filled before the first test runs. */
export interface World {
  readonly certificates: Certificates;
  /** Of the group system:masters. */
  readonly admin: TestCertificate;
  /** A user without further rights. */
  readonly jane: TestCertificate;
  readonly subject: Subject;
  ask(path: string, options?: Ask): Promise<Answer>;
}

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
export const WHO_AM_I = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

export interface Status {
  readonly kind: string;
  readonly apiVersion: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly code: number;
}
