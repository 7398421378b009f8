// The built-in surfaces, roles and messages are data that the compiler does not carry into dist.
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
for (const folder of ['surfaces', 'authorization', 'protobuf']) {
  cpSync(at(`../src/apiserver/${folder}/data`), at(`../dist/apiserver/${folder}/data`), { recursive: true });
}
