import { afterAll, beforeAll, describe } from 'vitest';
import { makeCertificates } from '../certificates.js';
import { ask } from '../https-client.js';
import { documentsSuite } from './documents.suite.js';
import { identitySuite } from './identity.suite.js';
import { manyGroupsSuite } from './many-groups.suite.js';
import { requestsSuite } from './requests.suite.js';
import { endSuite, pagesSuite, streamsSuite } from './service.suite.js';
import { EMBEDDED, type Subject, UPSTREAM } from './subject.js';
import type { World } from './world.js';

describe.each([EMBEDDED, UPSTREAM])('the chain before the $name host', (kind) => {
  const certificates = makeCertificates();
  let subject: Subject | undefined;
  const world: World = {
    certificates,
    admin: certificates.user('admin', 'system:masters'),
    jane: certificates.user('jane', 'developers'),
    get subject() {
      return subject!;
    },
    ask: (path, options) => ask(subject!, path, options),
  };

  beforeAll(async () => {
    subject = await kind.start(certificates);
  });
  afterAll(async () => {
    await subject?.close();
    certificates.remove();
  });

  identitySuite(world);
  manyGroupsSuite(world);
  documentsSuite(world);
  requestsSuite(world);
  pagesSuite(world);
  streamsSuite(world);
  endSuite(kind, world);
});
