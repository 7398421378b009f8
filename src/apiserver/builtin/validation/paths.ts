import { dnsSubdomainProblems } from '../built-in-formats.js';
import type { Problems } from '../problems.js';

/** A path inside a volume must not lead out of it. */
export function checkNoBacksteps(problems: Problems, field: string, path: string): void {
  if (path.split('/').includes('..')) problems.invalid(field, path, "must not contain '..'");
}

export function checkDescending(problems: Problems, field: string, path: string): void {
  if (path.startsWith('/')) problems.invalid(field, path, 'must be a relative path');
  checkNoBacksteps(problems, field, path);
}

export function checkLocalPath(problems: Problems, field: string, path: string): void {
  checkDescending(problems, field, path);
  if (path.startsWith('..') && !path.startsWith('../')) problems.invalid(field, path, "must not start with '..'");
}

/** The name of a controller, such as `a.test/b`. */
export function checkPrefixedPath(problems: Problems, field: string, value: string): void {
  if (value === '') {
    problems.required(field);
    return;
  }
  const [host = '', ...rest] = value.split('/');
  if (host === '' || rest.join('/') === '') {
    problems.invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")');
  } else problems.format(field, host, dnsSubdomainProblems);
}
