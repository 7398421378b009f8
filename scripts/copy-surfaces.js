// The built-in surfaces are data that the compiler does not carry into dist.
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
cpSync(at('../src/apiserver/surfaces/data'), at('../dist/apiserver/surfaces/data'), { recursive: true });
