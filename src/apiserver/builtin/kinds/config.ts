import { type JsonObject, jsonEqual, member } from '../../../kube/json.js';
import { configKeyProblems } from '../built-in-formats.js';
import { child, flag, text, textMap } from '../fields.js';
import { type KindRules, type KindRulesTable, keepsMember } from '../kind-rules.js';
import type { Problems } from '../problems.js';

const BYTES_MAX = 1024 * 1024;
const WHEN_IMMUTABLE = 'field is immutable when `immutable` is set';

/** Once it can't be changed, it can't be made changeable either. */
function checkImmutable(
  object: JsonObject,
  live: JsonObject,
  { problems, members }: { problems: Problems; members: readonly string[] },
): void {
  if (!flag(live, 'immutable')) return;
  if (!flag(object, 'immutable')) problems.forbidden('immutable', WHEN_IMMUTABLE);
  for (const name of members) {
    const isSame = jsonEqual(member(object, name) ?? {}, member(live, name) ?? {});
    if (!isSame) problems.forbidden(name, WHEN_IMMUTABLE);
  }
}

const CONFIG_MAPS: KindRules = {
  validate: (object, problems) => {
    const data = textMap(object, 'data');
    const binary = textMap(object, 'binaryData');
    let bytes = 0;
    for (const key of Object.keys(data)) {
      problems.invalidEach(`data[${key}]`, key, configKeyProblems(key));
      if (Object.hasOwn(binary, key)) problems.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData');
      bytes += Buffer.byteLength(String(data[key]));
    }
    for (const key of Object.keys(binary)) {
      problems.invalidEach(`binaryData[${key}]`, key, configKeyProblems(key));
      bytes += Buffer.from(String(binary[key]), 'base64').length;
    }
    // Both together, hence no field.
    if (bytes > BYTES_MAX) problems.tooLong('[]', BYTES_MAX);
  },
  validateUpdate: (object, live, problems) =>
    checkImmutable(object, live, { problems, members: ['data', 'binaryData'] }),
};

/** What each type of secret must have. */
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
      keepsMember(problems, { object: secret, live, path: 'type', name: 'type' });
      checkImmutable(secret, live, { problems, members: ['data'] });
    }
    const data = textMap(secret, 'data');
    let bytes = 0;
    for (const key of Object.keys(data)) {
      problems.invalidEach(`data[${key}]`, key, configKeyProblems(key));
      bytes += Buffer.from(String(data[key]), 'base64').length;
    }
    if (bytes > BYTES_MAX) problems.tooLong('data', BYTES_MAX);
    checkSecretType(secret, problems);
  },
};

export const CONFIG_RULES: KindRulesTable = {
  '/configmaps': CONFIG_MAPS,
  '/secrets': SECRETS,
};
