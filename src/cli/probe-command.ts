import { type Command, InvalidArgumentError } from 'commander';
import { printable } from '../base/printable.js';
import { parseGoDurationMs } from '../compose/config/go-duration.js';
import { Asker, NoAnswer } from '../tools/inspect/ask.js';
import { readNamed } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

const DEFAULT_URL = 'https://127.0.0.1:6443/livez';
/** Names the URL where no argument can be given: in the health check of an image. */
const URL_VARIABLE = 'STRADDLE_PROBE_URL';
const TIMEOUT_MS = 5_000;
const TIMEOUT_MS_MAX = 60_000;
const REPLY_BYTES_MAX = 1 << 20;

const EXAMPLES = `
Sends one GET without credentials and prints the reply: exit code 0 for a status of 200 to 299, else 1. For the health checks of
container engines, in an image that has no curl and no shell. /livez fails if Straddle must be restarted, /readyz also while it
cannot serve. As by the kubelet, the certificate is not verified unless there is a --ca-file.

Examples:
  $ straddle probe
  $ straddle probe https://10.0.0.1:6443/readyz
  $ straddle probe --ca-file=/etc/kubernetes/pki/ca.crt 'https://10.0.0.1:6443/readyz?verbose'
  $ ${URL_VARIABLE}=https://127.0.0.1:8443/livez straddle probe
`;

interface ProbeOptions {
  readonly caFile?: string;
  /** Milliseconds. */
  readonly timeout?: number;
}

export function addProbeCommand(
  program: Command,
  surroundings: Surroundings,
  { exitWith }: { readonly exitWith: (code: number) => void },
): void {
  program
    .command('probe')
    .description('Ask one server whether it is alive or ready, as a health check')
    .argument('[url]', `the page to get (default: $${URL_VARIABLE}, then ${DEFAULT_URL})`, httpsUrl)
    .option('--timeout <duration>', 'longest wait for the reply, 1s to 1m (default: 5s)', timeoutMs)
    .option('--ca-file <path>', 'verify the certificate of the server with this authority')
    .addHelpText('after', EXAMPLES)
    .action(async (url: URL | undefined, options: ProbeOptions) => {
      exitWith(await probe(url ?? urlOf(surroundings), options, surroundings));
    });
}

async function probe(
  url: URL,
  { caFile, timeout = TIMEOUT_MS }: ProbeOptions,
  surroundings: Surroundings,
): Promise<number> {
  const asker = new Asker({
    url: url.origin,
    credentials: {
      ca: caFile === undefined ? undefined : readNamed(caFile, 'The certificate authority', surroundings),
      clientCert: undefined,
      clientKey: undefined,
      token: undefined,
      insecureSkipTlsVerify: caFile === undefined,
    },
    timeoutMs: timeout,
    nowMs: surroundings.nowMs,
  });
  try {
    const path = url.pathname + url.search;
    const { status, text } = await asker.request({ method: 'GET', path, accept: '*/*', bytesMax: REPLY_BYTES_MAX });
    const isGood = status >= 200 && status < 300;
    const print = isGood ? surroundings.stdout : surroundings.stderr;
    print(`${isGood ? '' : `straddle: ${url.href} replied ${status}: `}${printable(text.trimEnd())}\n`);
    return isGood ? 0 : 1;
  } catch (error) {
    if (error instanceof NoAnswer) throw new Error(`${url.href} did not reply: ${error.message}.`);
    throw error;
  } finally {
    asker.close();
  }
}

function urlOf({ environment }: Surroundings): URL {
  const text = environment[URL_VARIABLE] || DEFAULT_URL;
  try {
    return httpsUrl(text);
  } catch (error) {
    throw new Error(`${URL_VARIABLE}: "${text}" is not a page. ${(error as Error).message}`);
  }
}

function httpsUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError(`Use https://<host>:<port>/<path>, for example ${DEFAULT_URL}.`);
  }
  return url;
}

function timeoutMs(text: string): number {
  const parsedMs = parseGoDurationMs(text);
  if (parsedMs === undefined || parsedMs < 1_000 || parsedMs > TIMEOUT_MS_MAX) {
    throw new InvalidArgumentError('Use a duration from 1s to 1m.');
  }
  return parsedMs;
}
