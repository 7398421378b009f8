import { runAtOnce } from '../../base/work-slices.js';
import { type JsonObject, objectMember } from '../../kube/json.js';
import type { PartStrategy, Strategy } from '../registry/strategy.js';
import { isKnownFormat } from '../schema/schema-formats.js';
import { goQuote } from '../values/go-quote.js';
import { dnsSubdomainProblems } from '../values/object-meta.js';
import { readDefinition, textIn, textsIn } from './definition.js';
import { setDefinitionDefaults } from './set-definition-defaults.js';
import { markDefinitionDeleted } from './settle-definitions.js';
import { visitSchemas } from './sub-schemas.js';
import {
  type DefinitionOptions,
  definitionProblemSteps,
  definitionUpdateProblemSteps,
  validateDefinitionStatus,
} from './validate-definition.js';

/** The strategy of the kind CustomResourceDefinition. */
export function definitionStrategy(options: DefinitionOptions = {}): Strategy {
  return {
    nameProblems: (name) => dnsSubdomainProblems(name),
    setDefaults: setDefinitionDefaults,
    prepareForCreate: newDefinition,
    prepareForUpdate: (crd, live) => withStoredVersion({ ...crd, status: live['status'] ?? {} }),
    validateCreate: (crd) => runAtOnce(definitionProblemSteps(crd, options)),
    validateUpdate: (crd, live) => runAtOnce(definitionUpdateProblemSteps(crd, live, options)),
    createProblemSteps: (crd) => definitionProblemSteps(crd, options),
    updateProblemSteps: (crd, live) => definitionUpdateProblemSteps(crd, live, options),
    warnings: formatWarnings,
    hasGeneration: true,
    hasStatus: true,
    createsOnUpdate: false,
    updatesUnconditionally: false,
    whenDeleted: markDefinitionDeleted,
    parts: new Map([['status', STATUS]]),
  };
}

/** A write to the status also writes finalizers: the controller removes its finalizer with it. */
const STATUS: PartStrategy = {
  prepareForUpdate: (crd, live) => ({ ...crd, spec: live['spec'] ?? {} }),
  validateUpdate: (crd) => validateDefinitionStatus(crd),
  ignoredPaths: ['f:spec'],
};

function newDefinition(crd: JsonObject): JsonObject {
  return withStoredVersion({ ...crd, status: { conditions: null, acceptedNames: { plural: '', kind: '' } } });
}

/** Adds the storage version to the list of all versions in which objects were stored. */
function withStoredVersion(crd: JsonObject): JsonObject {
  const status = objectMember(crd, 'status');
  const stored = textsIn(status, 'storedVersions');
  const storage = readDefinition(crd).versions.find(({ isStorage }) => isStorage);
  if (storage === undefined || stored.includes(storage.name)) return crd;
  return { ...crd, status: { ...status, storedVersions: [...stored, storage.name] } };
}

function formatWarnings(crd: JsonObject, live: JsonObject | undefined): string[] {
  const before = new Set(live === undefined ? [] : unknownFormats(live));
  return unknownFormats(crd)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`);
}

function unknownFormats(crd: JsonObject): string[] {
  const formats: string[] = [];
  for (const { openApi } of readDefinition(crd).versions) {
    if (openApi === undefined) continue;
    visitSchemas(openApi, (each) => {
      const format = textIn(each, 'format');
      if (format !== '' && !isKnownFormat(textIn(each, 'type'), format)) formats.push(format);
    });
  }
  return [...new Set(formats)];
}
