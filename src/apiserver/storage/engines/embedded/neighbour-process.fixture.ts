import { createInterface } from 'node:readline';
import { openEmbeddedBackend } from './embedded-backend.js';

/**
 * Another process on the same store, started by tests: `storm <name>` writes as fast as it can and prints a line for
 * every acknowledged write; `echo <prefix>` answers every key made under <prefix>ping/ with one under <prefix>pong/.
 */
const [dataDir, role, argument] = process.argv.slice(2) as [string, string, string];
const store = await openEmbeddedBackend({ dataDir });

if (role === 'storm') {
  await Promise.all(Array.from({ length: 8 }, (_, lane) => storm(`/storm/${argument}-${lane}`)));
} else {
  const watch = store.watch(`${argument}ping/`, { fromRevision: (await store.currentRevision()) + 1 });
  createInterface(process.stdin).on('close', () => watch.close());
  console.log('ready');
  for await (const { events } of watch) {
    for (const event of events) {
      if (event.type !== 'put') continue;
      const name = event.current.key.toString().slice(`${argument}ping/`.length);
      await store.create(`${argument}pong/${name}`, event.current.value);
    }
  }
  await store.close();
}

/** Counts up in one key and leaves a new key behind with every step; never ends by itself. */
async function storm(key: string): Promise<void> {
  let present = (await store.get(key)) ?? (await store.create(key, Buffer.from('0')));
  for (let step = Number(present.value) + 1; ; step++) {
    present = await store.update(key, Buffer.from(String(step)), present.modRevision);
    const trace = await store.create(`${key}/${step}-${present.modRevision}`, Buffer.alloc(step % 2000, step));
    console.log(`${key} ${step} ${present.modRevision} ${trace.modRevision}`);
  }
}
