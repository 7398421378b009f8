/** Informers of @kubernetes/client-node, restarted when they report an error, as its documentation says. */
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node';
import { type Access, Backoff, COLLECTION, NAMESPACE } from './access.js';
import { childSide, cpuMs } from './child-program.js';
import { EventRecord } from './event-record.js';
import { Latencies } from './latencies.js';

export interface InformersTask {
  readonly access: Access;
  readonly count: number;
}

const { task, say } = childSide<InformersTask>((order) => finishAt(Number(order)));
const latencies = new Latencies();
const config = configOf(task.access);
let untilRevision = Number.POSITIVE_INFINITY;
let lists = 0;
const informers = await Promise.all(Array.from({ length: task.count }, startInformer));
say({ connected: informers.length });

async function startInformer() {
  const api = config.makeApiClient(CoreV1Api);
  const backoff = new Backoff();
  let record: EventRecord | undefined;
  const informer = makeInformer<V1ConfigMap>(config, COLLECTION, async () => {
    lists++;
    return api.listNamespacedConfigMap({ namespace: NAMESPACE });
  });
  const see = (type: string) => (object: V1ConfigMap) => {
    backoff.reset();
    if (!record) return;
    const { name = '', resourceVersion } = object.metadata!;
    record.see({ type, name, revision: Number(resourceVersion) }, Number(object.data?.['at'] ?? 0));
    if (record.lastRevision >= untilRevision) reportWhenAllAreThere();
  };
  informer.on('add', see('ADDED'));
  informer.on('update', see('MODIFIED'));
  informer.on('delete', see('DELETED'));
  informer.on('error', () => void setTimeout(() => void informer.start(), backoff.waitMs()));
  await informer.start();
  // It does not reject; and an error after which it starts anew would tell the first state as events.
  if (informer.list().length === 0) throw new Error('the first list failed');
  const revisions = informer.list().map(({ metadata }) => Number(metadata!.resourceVersion));
  record = new EventRecord({ fromRevision: Math.max(0, ...revisions), latencies, keepsAll: false });
  return { informer, record };
}

function configOf({ url, caPem, certPem, keyPem }: Access): KubeConfig {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const made = new KubeConfig();
  made.loadFromClusterAndUser(
    { name: 'storm', server: url, caData: base64(caPem), skipTLSVerify: false },
    { name: 'admin', certData: base64(certPem), keyData: base64(keyPem) },
  );
  return made;
}

function finishAt(revision: number): void {
  untilRevision = revision;
  reportWhenAllAreThere();
}

function reportWhenAllAreThere(): void {
  if (informers.some(({ record }) => record.lastRevision < untilRevision)) return;
  untilRevision = Number.POSITIVE_INFINITY;
  say({
    records: informers.map(({ record }) => record.report()),
    latencies: latencies.counts,
    cpuMs: cpuMs(),
    states: informers.map(({ informer }) =>
      Object.fromEntries(informer.list().map(({ metadata }) => [metadata!.name, metadata!.resourceVersion])),
    ),
    lists,
  });
}
