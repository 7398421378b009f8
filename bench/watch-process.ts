/** Opens many watches in a separate process, so that reading does not delay the writer; messages over IPC. */
import { type ClientHttp2Session, connect } from 'node:http2';
import { performance } from 'node:perf_hooks';

export interface WatchOrder {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  /** Path of each watch. */
  readonly paths: readonly string[];
  /** Text that every event of that watch must contain. */
  readonly texts: readonly string[];
  readonly perConnection: number;
}

export type WatchQuestion = { readonly open: WatchOrder } | { readonly collect: number };

export type WatchAnswer =
  | { readonly kind: 'opened' }
  | { readonly kind: 'delivered'; readonly latenciesMs: readonly number[] }
  | { readonly kind: 'failed'; readonly why: string };

/** Watches are opened some at a time: a crowd that comes all at once is another measurement. */
const OPENING_MAX = 50;

/** Set in every written object, and read back from the event. */
export const WRITTEN_AT = 'bench/written-at';
const WRITTEN_AT_FIELD = `"${WRITTEN_AT}":"`;

export const preciseNowMs = (): number => performance.timeOrigin + performance.now();

let latenciesMs: number[] = [];
let wanted = Number.POSITIVE_INFINITY;

const answer = (message: WatchAnswer): void => void process.send!(message);
const fail = (why: string): void => answer({ kind: 'failed', why });

function delivered(line: string, text: string): void {
  const at = line.indexOf(WRITTEN_AT_FIELD);
  if (at < 0 || !line.startsWith('{"type":"MODIFIED"') || !line.includes(text)) {
    fail(`an event that nobody wrote: ${line.slice(0, 300)}`);
    return;
  }
  latenciesMs.push(preciseNowMs() - Number.parseFloat(line.slice(at + WRITTEN_AT_FIELD.length)));
  reportWhenAll();
}

function reportWhenAll(): void {
  if (latenciesMs.length < wanted) return;
  answer({ kind: 'delivered', latenciesMs });
  latenciesMs = [];
  wanted = Number.POSITIVE_INFINITY;
}

function openWatch(session: ClientHttp2Session, path: string, text: string, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, accept: 'application/json', authorization: `Bearer ${token}` });
    let rest = '';
    stream.setEncoding('utf8');
    stream.once('response', (head) => {
      if (head[':status'] === 200) resolve();
      else reject(new Error(`${path}: ${head[':status']}`));
    });
    stream.on('data', (chunk: string) => {
      rest += chunk;
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        delivered(rest.slice(0, end), text);
        rest = rest.slice(end + 1);
      }
    });
    stream.once('error', reject);
    stream.once('close', () => fail(`the watch ${path} ended`));
  });
}

async function open({ url, ca, token, paths, texts, perConnection }: WatchOrder): Promise<void> {
  const sessions = Array.from({ length: Math.ceil(paths.length / perConnection) }, () => {
    const session = connect(url, { ca, settings: { enablePush: false } });
    session.once('error', (error) => fail(error.message));
    session.setMaxListeners(0);
    return session;
  });
  let next = 0;
  const opener = async (): Promise<void> => {
    while (next < paths.length) {
      const i = next++;
      await openWatch(sessions[i % sessions.length]!, paths[i]!, texts[i]!, token);
    }
  };
  await Promise.all(Array.from({ length: OPENING_MAX }, opener));
}

process.on('message', (question: WatchQuestion) => {
  if ('collect' in question) {
    wanted = question.collect;
    reportWhenAll();
    return;
  }
  open(question.open).then(
    () => answer({ kind: 'opened' }),
    (error: Error) => fail(error.message),
  );
});
process.on('disconnect', () => process.exit(0));
