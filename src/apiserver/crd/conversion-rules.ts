import { X509Certificate } from 'node:crypto';
import { type Json, type JsonObject, member, objectMember } from '../../kube/json.js';
import { type FieldProblem, forbidden, invalid, notSupported, required } from '../schema/field-problems.js';
import { dns1035LabelProblems, dnsSubdomainProblems } from '../values/object-meta.js';
import { objectIn, textIn, textsIn } from './definition.js';

/** Supported versions of ConversionReview. */
export const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const FIELD = 'spec.conversion';
const CLIENT_CONFIG = `${FIELD}.webhookClientConfig`;
const URL_FORM = '; desired format: https://host[/path]';

export interface ConversionRuleOptions {
  /** A definition that is not served yet may have an invalid bundle; it does not become established. */
  readonly allowsInvalidCaBundle: boolean;
}

export function conversionProblems(conversion: JsonObject | undefined, options: ConversionRuleOptions): FieldProblem[] {
  if (conversion === undefined) return [];
  const strategy = textIn(conversion, 'strategy');
  const webhook = objectMember(conversion, 'webhook');
  const clientConfig = objectIn(webhook, 'clientConfig');
  const versions = textsIn(webhook, 'conversionReviewVersions');
  const problems = strategyProblems(strategy);
  if (strategy === 'Webhook') {
    return [...problems, ...clientConfigProblems(clientConfig, options), ...reviewVersionProblems(versions)];
  }
  const detail = 'should not be set when strategy is not set to Webhook';
  if (clientConfig !== undefined) problems.push(forbidden(CLIENT_CONFIG, detail));
  if (versions.length > 0) problems.push(forbidden(`${FIELD}.conversionReviewVersions`, detail));
  return problems;
}

function strategyProblems(strategy: string): FieldProblem[] {
  const field = `${FIELD}.strategy`;
  if (strategy === '') return [required(field)];
  const known = ['None', 'Webhook'];
  return known.includes(strategy) ? [] : [notSupported(field, strategy, known)];
}

function clientConfigProblems(config: JsonObject | undefined, options: ConversionRuleOptions): FieldProblem[] {
  if (config === undefined) return [required(CLIENT_CONFIG, 'required when strategy is set to Webhook')];
  const [url, service] = [member(config, 'url'), objectIn(config, 'service')];
  const hasUrl = typeof url === 'string';
  const problems: FieldProblem[] = [];
  if (hasUrl === (service !== undefined)) {
    problems.push(required(CLIENT_CONFIG, 'exactly one of url or service is required'));
  } else if (hasUrl) problems.push(...urlProblems(url));
  else problems.push(...serviceProblems(service!));
  const bundle = textIn(config, 'caBundle');
  const defect = bundle === '' || options.allowsInvalidCaBundle ? undefined : caBundleProblem(bundle);
  if (defect !== undefined) problems.push(invalid(`${CLIENT_CONFIG}.caBundle`, bundle, defect));
  return problems;
}

/** Returns the message of kube-apiserver about an invalid bundle (base64 of PEM). */
function caBundleProblem(bundle: string): string | undefined {
  const text = Buffer.from(bundle, 'base64').toString('latin1');
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return 'unable to load root certificates: unable to parse bytes as PEM block';
  try {
    for (const block of blocks) new X509Certificate(block);
    return undefined;
  } catch {
    return 'unable to load root certificates: failed to parse certificate';
  }
}

function urlProblems(text: string): FieldProblem[] {
  const field = `${CLIENT_CONFIG}.url`;
  // Not the class URL, which does not distinguish an empty host from a missing one.
  const match =
    /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:([^/?#]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  if (match === null) return [required(field, `url must be a valid URL: ${JSON.stringify(text)}${URL_FORM}`)];
  const [, scheme = '', user, host = '', query = '', fragment = ''] = match;
  return [
    ...(scheme.toLowerCase() === 'https'
      ? []
      : [invalid(field, scheme.toLowerCase(), `'https' is the only allowed URL scheme${URL_FORM}`)]),
    ...(host === '' ? [invalid(field, host, `host must be specified${URL_FORM}`)] : []),
    ...(user === undefined ? [] : [invalid(field, user, 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalid(field, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [invalid(field, query, 'query parameters are not permitted in the URL')]),
  ];
}

function serviceProblems(service: JsonObject): FieldProblem[] {
  const field = `${CLIENT_CONFIG}.service`;
  const port = member(service, 'port') ?? 443;
  const isPort = typeof port === 'number' && port >= 1 && port <= 65_535;
  return [
    ...(textIn(service, 'name') === '' ? [required(`${field}.name`)] : []),
    ...(textIn(service, 'namespace') === '' ? [required(`${field}.namespace`)] : []),
    ...(isPort ? [] : [invalid(`${field}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive')]),
    ...pathProblems(member(service, 'path'), `${field}.path`),
  ];
}

function pathProblems(path: Json | undefined, field: string): FieldProblem[] {
  if (typeof path !== 'string' || path === '' || path === '/') return [];
  if (path === '//') return [invalid(field, path, 'segment[0] may not be empty')];
  const segments = path.slice(1).replace(/\/$/, '').split('/');
  return [
    ...(path.startsWith('/') ? [] : [invalid(field, path, "must start with a '/'")]),
    ...segments.flatMap((segment, index) =>
      segment === ''
        ? [invalid(field, path, `segment[${index}] may not be empty`)]
        : dnsSubdomainProblems(segment).map((text) => invalid(field, path, `segment[${index}]: ${text}`)),
    ),
  ];
}

function reviewVersionProblems(versions: readonly string[]): FieldProblem[] {
  const field = `${FIELD}.conversionReviewVersions`;
  if (versions.length === 0) return [required(field)];
  const seen = new Set<string>();
  const problems = versions.flatMap((version, index) => {
    if (seen.has(version)) return [invalid(`${field}[${index}]`, version, 'duplicate version')];
    seen.add(version);
    return dns1035LabelProblems(version).map((text) => invalid(`${field}[${index}]`, version, text));
  });
  if (versions.some((version) => REVIEW_VERSIONS.includes(version))) return problems;
  return [...problems, invalid(field, [...versions], `must include at least one of ${REVIEW_VERSIONS.join(', ')}`)];
}

export function hasInvalidCaBundle(conversion: JsonObject = {}): boolean {
  const bundle = textIn(objectMember(objectMember(conversion, 'webhook'), 'clientConfig'), 'caBundle');
  return bundle !== '' && caBundleProblem(bundle) !== undefined;
}
