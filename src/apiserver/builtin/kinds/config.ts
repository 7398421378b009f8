import { type JsonObject, jsonEqual } from '../../../kube/json.js';
import { configKeyProblems } from '../built-in-formats.js';
import { child, flag, text, textMap } from '../fields.js';
import { type KindRules, type KindRulesTable, keepsMember } from '../kind-rules.js';
import type { Problems } from '../problems.js';

const BYTES_MAX = 1024 * 1024;
const WHEN_IMMUTABLE = 'field is immutable when `immutable` is set';

/** An immutable object stays immutable, with the members that hold its data. */
function checkImmutable(problems: Problems, object: JsonObject, live: JsonObject, ...members: readonly string[]): void {
  if (!flag(live, 'immutable')) return;
  if (!flag(object, 'immutable')) problems.forbidden('immutable', WHEN_IMMUTABLE);
  for (const name of members) {
    if (!jsonEqual(textMap(object, name), textMap(live, name))) problems.forbidden(name, WHEN_IMMUTABLE);
  }
}

/** Checks the keys of a map of base64 texts; returns the size of their contents. */
function checkBinaryData(problems: Problems, object: JsonObject, name: string): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(textMap(object, name))) {
    problems.format(`${name}[${key}]`, key, configKeyProblems);
    bytes += Buffer.from(String(value), 'base64').length;
  }
  return bytes;
}

const CONFIG_MAPS: KindRules = {
  validate: (object, problems) => {
    const data = textMap(object, 'data');
    const binary = textMap(object, 'binaryData');
    let bytes = 0;
    for (const key of Object.keys(data)) {
      problems.format(`data[${key}]`, key, configKeyProblems);
      if (Object.hasOwn(binary, key)) problems.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData');
      bytes += Buffer.byteLength(String(data[key]));
    }
    bytes += checkBinaryData(problems, object, 'binaryData');
    // The bound is for both maps together, hence no field.
    if (bytes > BYTES_MAX) problems.tooLong('[]', BYTES_MAX);
  },
  validateUpdate: (object, live, problems) => checkImmutable(problems, object, live, 'data', 'binaryData'),
};

/** Checks the members that the type of a secret requires. */
function checkSecretType(secret: JsonObject, problems: Problems): void {
  const data = textMap(secret, 'data');
  const isThere = (key: string): boolean => Object.hasOwn(data, key);
  const needs = (...keys: readonly string[]): void => {
    for (const key of keys) if (!isThere(key)) problems.required(`data[${key}]`);
  };
  switch (text(secret, 'type')) {
    case 'kubernetes.io/service-account-token': {
      const account = 'kubernetes.io/service-account.name';
      const annotations = textMap(child(secret, 'metadata'), 'annotations');
      if (!Object.hasOwn(annotations, account)) problems.required(`metadata.annotations[${account}]`);
      return;
    }
    case 'kubernetes.io/dockercfg':
      checkJson(data, '.dockercfg', problems);
      return;
    case 'kubernetes.io/dockerconfigjson':
      checkJson(data, '.dockerconfigjson', problems);
      return;
    case 'kubernetes.io/basic-auth':
      if (!isThere('username') && !isThere('password')) needs('username', 'password');
      return;
    case 'kubernetes.io/ssh-auth':
      needs('ssh-privatekey');
      return;
    case 'kubernetes.io/tls':
      needs('tls.crt', 'tls.key');
  }
}

function checkJson(data: Readonly<Record<string, string>>, key: string, problems: Problems): void {
  if (!Object.hasOwn(data, key)) {
    problems.required(`data[${key}]`);
    return;
  }
  const document = Buffer.from(data[key]!, 'base64').toString();
  try {
    JSON.parse(document);
  } catch {
    const first = document.trimStart()[0];
    const why =
      first === undefined
        ? 'unexpected end of JSON input'
        : `invalid character '${first}' looking for beginning of value`;
    problems.invalid(`data[${key}]`, '<secret contents redacted>', why);
  }
}

const SECRETS: KindRules = {
  validate: (secret, problems, _around, live) => {
    if (live !== undefined) {
      keepsMember(problems, 'type', secret, live);
      checkImmutable(problems, secret, live, 'data');
    }
    if (checkBinaryData(problems, secret, 'data') > BYTES_MAX) problems.tooLong('data', BYTES_MAX);
    checkSecretType(secret, problems);
  },
};

export const CONFIG_RULES: KindRulesTable = { '/configmaps': CONFIG_MAPS, '/secrets': SECRETS };
