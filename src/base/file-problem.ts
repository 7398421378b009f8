import { getSystemErrorMap } from 'node:util';

/** Returns why a file could not be used, in words and with the code: `no such file or directory, ENOENT`. */
export function fileProblem(error: unknown): string {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  const [name, words] = (typeof errno === 'number' ? getSystemErrorMap().get(errno) : undefined) ?? [];
  // Errors of zlib have numbers of their own.
  return words === undefined || name !== code ? (code ?? message) : `${words}, ${code}`;
}
