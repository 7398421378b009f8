// The built-in surfaces, priorities, roles, messages and shapes are data, and a thread is plain JavaScript: the compiler carries neither into dist.
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
for (const folder of ['surfaces', 'aggregation', 'authorization', 'builtin', 'protobuf']) {
  cpSync(at(`../src/apiserver/${folder}/data`), at(`../dist/apiserver/${folder}/data`), { recursive: true });
}
cpSync(at('../src/apiserver/yaml/yaml-worker.cjs'), at('../dist/apiserver/yaml/yaml-worker.cjs'));
