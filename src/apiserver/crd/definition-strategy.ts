import { isObject, type JsonObject } from '../../kube/json.js';
import type { PartStrategy, Strategy } from '../registry/strategy.js';
import { isKnownFormat } from '../schema/schema-formats.js';
import { goQuote } from '../values/go-quote.js';
import { dnsSubdomainProblems } from '../values/object-meta.js';
import { listIn, objectIn, readDefinition, textIn, textsIn } from './definition.js';
import { setDefinitionDefaults } from './set-definition-defaults.js';
import { markDefinitionDeleted } from './settle-definitions.js';
import { visitSchemas } from './sub-schemas.js';
import {
  type DefinitionOptions,
  definitionProblemSteps,
  definitionUpdateProblemSteps,
  validateDefinition,
  validateDefinitionStatus,
  validateDefinitionUpdate,
} from './validate-definition.js';

/** The strategy of the kind CustomResourceDefinition itself. */
export function definitionStrategy(options: DefinitionOptions = {}): Strategy {
  return {
    nameProblems: (name) => dnsSubdomainProblems(name),
    setDefaults: setDefinitionDefaults,
    prepareForCreate: newDefinition,
    prepareForUpdate: (crd, live) => withStoredVersion({ ...crd, status: live['status'] ?? {} }),
    validateCreate: (crd) => validateDefinition(crd, { ...options, isNameChecked: true }),
    validateUpdate: (crd, live) => validateDefinitionUpdate(crd, live, options),
    createProblemSteps: (crd) => definitionProblemSteps(crd, { ...options, isNameChecked: true }),
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

/** The status is written together with finalizers: whoever cleans up does both at once. */
const STATUS: PartStrategy = {
  prepareForUpdate: (crd, live) => ({ ...crd, spec: live['spec'] ?? {} }),
  validateUpdate: (crd) => validateDefinitionStatus(crd),
  ignoredPaths: ['f:spec'],
};

function newDefinition(crd: JsonObject): JsonObject {
  return withStoredVersion({ ...crd, status: { conditions: null, acceptedNames: { plural: '', kind: '' } } });
}

/** Every version that objects were ever stored in is remembered. */
function withStoredVersion(crd: JsonObject): JsonObject {
  const status = objectIn(crd, 'status') ?? {};
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
  for (const version of listIn(objectIn(crd, 'spec') ?? {}, 'versions').filter(isObject)) {
    const openApi = objectIn(objectIn(version, 'schema') ?? {}, 'openAPIV3Schema');
    if (openApi === undefined) continue;
    visitSchemas(openApi, (each) => {
      const format = textIn(each, 'format');
      if (format !== '' && !isKnownFormat(textIn(each, 'type'), format)) formats.push(format);
    });
  }
  return [...new Set(formats)];
}
