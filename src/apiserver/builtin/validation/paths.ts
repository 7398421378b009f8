import { dnsSubdomainProblems } from '../built-in-formats.js';
import type { Problems } from '../problems.js';

/** Paths inside volumes must stay there. */
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

/** `a.test/b`: who answers for something. */
export function checkPrefixedPath(problems: Problems, field: string, value: string): void {
  if (value === '') {
    problems.required(field);
    return;
  }
  const [host = '', ...rest] = value.split('/');
  if (host === '' || rest.join('/') === '') {
    problems.invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")');
  } else problems.invalidEach(field, host, dnsSubdomainProblems(host));
}
