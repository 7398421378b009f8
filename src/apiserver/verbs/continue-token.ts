import { StatusError } from '../../kube/status-error.js';

/** The position of a list: its revision (-1 for the newest) and its last key, relative to its prefix. */
export interface ContinueToken {
  readonly revision: number;
  readonly startAfter: string;
}

const VERSION = 'meta.k8s.io/v1';
const TOKEN_CHARS_MAX = 4_096;

export function encodeContinue({ revision, startAfter }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start: `${startAfter}\u0000` })).toString('base64url');
}

/** Throws BadRequest with the messages of kube-apiserver. */
export function decodeContinue(token: string): ContinueToken {
  const refuse = (why: string): StatusError => new StatusError('BadRequest', `continue key is not valid: ${why}`);
  if (token.length > TOKEN_CHARS_MAX || !/^[A-Za-z0-9_-]+={0,2}$/.test(token)) throw refuse('illegal base64 data');
  let content: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    content = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as typeof content;
  } catch {
    throw refuse('it is not an encoded position');
  }
  const { v, rv, start } = content ?? {};
  if (v !== VERSION) throw refuse(`server does not recognize this encoded version ${JSON.stringify(v ?? '')}`);
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw refuse('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') throw refuse('encoded start key empty (version meta.k8s.io/v1)');
  const key = start.endsWith('\u0000') ? start.slice(0, -1) : start;
  if (key.startsWith('/') || key.split('/').some((part) => part === '..' || part === '.')) {
    throw refuse(`${JSON.stringify(start)}`);
  }
  return { revision: Math.max(rv, -1), startAfter: key };
}
