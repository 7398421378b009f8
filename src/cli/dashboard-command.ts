import { type Command, InvalidArgumentError, Option } from 'commander';
import { printableLine } from '../base/printable.js';
import { member, objectOrEmpty, parsedObject } from '../kube/json.js';
import { LocalDoor } from '../tools/dashboard/local-door.js';
import { HttpsConnection, type HttpsReply } from '../tools/https/https-connection.js';
import { type AskerOptions, noAnswer, serverTls } from '../tools/inspect/ask.js';
import { namedServers } from '../tools/inspect/named-servers.js';
import { type AccessOptions, askerOptions, KUBECONFIG_HELP, readAccess } from './kube-access.js';
import { type Surroundings, stopSignal } from './surroundings.js';

const EXAMPLES = `
Opens the page of a Straddle in the browser: whether the next server may be replaced and why not, the servers, what they
serve otherwise than the others, requests as they come, a timeline of the upgrade. The page is for reading only. A port of
this machine passes it on with the credentials of the kubeconfig, to the one browser that opens the printed address first. The
address has a name under localhost, new each time, which browsers resolve themselves. The user needs the right to get the
non-resource URL /metrics. Ctrl-C ends it.

Examples:
  $ straddle dashboard
  $ straddle dashboard --server=control-plane-2 --kubeconfig=/etc/kubernetes/admin.conf
  $ straddle dashboard --server=10.0.0.2:6443
  On a machine without a browser, to be opened elsewhere as it is printed, through \`ssh -L 8080:127.0.0.1:8080\`:
  $ straddle dashboard --port=8080 --no-open
`;

const OPENED_TWICE = `straddle: the printed address was opened twice, the second time not by the browser that had opened it first. The
page is closed for both. If neither was you, somebody has seen the address; run \`straddle dashboard\` again.
`;
const STATE_PATH = '/straddle/api/v1/state';
const TIMEOUT_MS = 10_000;
const STATE_BYTES_MAX = 64 * 1024 * 1024;
const SOCKETS_MAX = 16;
const MESSAGE_CHARS_MAX = 300;

interface DashboardFlags extends AccessOptions {
  readonly server?: string;
  readonly port: number;
  readonly open: boolean;
}

export function addDashboardCommand(
  program: Command,
  surroundings: Surroundings,
  { exitWith }: { readonly exitWith: (code: number) => void },
): void {
  program
    .command('dashboard')
    .description('Open the page of a Straddle in the browser')
    .option('--kubeconfig <path>', KUBECONFIG_HELP)
    .option('--context <name>', 'context in it (default: its current one)')
    .option(
      '--server <name>',
      'whose page, by name or host:port (default: whoever answers at the address in the kubeconfig)',
    )
    .addOption(new Option('--port <number>', 'on 127.0.0.1 and ::1 (0: any that is free)').argParser(port).default(0))
    .option('--no-open', 'only print the address')
    .option('--insecure-skip-tls-verify', 'obey a kubeconfig that says not to verify the server')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: DashboardFlags) => exitWith(await dashboard(flags, surroundings)));
}

async function dashboard(flags: DashboardFlags, surroundings: Surroundings): Promise<number> {
  const stop = stopSignal(surroundings, () => surroundings.exitNow(1));
  const access = askerOptions(await readAccess(flags, surroundings), surroundings);
  const target = flags.server === undefined ? access : await chosen(flags.server, access);
  const connection = connectionTo(target);
  const { token } = target.credentials;
  const credentials = (): Record<string, string> => (token ? { authorization: `Bearer ${token}` } : {});
  let forgetBrowser = () => {};
  let onSecondOpening = () => {};
  const secondOpening = new Promise<'twice'>((resolve) => {
    onSecondOpening = () => resolve('twice');
  });
  const door = new LocalDoor({ connection, credentials, port: flags.port, onSecondOpening });
  try {
    const server = await serverBehind(connection, credentials());
    const address = await door.listen();
    surroundings.stdout(
      `The page of ${printableLine(server)} (${target.url}), for the first browser that opens it:\n\n  ${address}\n\nCtrl-C ends it.\n`,
    );
    if (flags.open) forgetBrowser = surroundings.openBrowser?.(address) ?? forgetBrowser;
    if ((await Promise.race([stop.first, secondOpening])) !== 'twice') return 0;
    surroundings.stderr(OPENED_TWICE);
    return 1;
  } finally {
    stop.forget();
    forgetBrowser();
    await door.close();
    connection.close();
  }
}

/** Returns the way to the server that is named: to its Straddle, if the cluster knows of one. */
async function chosen(wanted: string, access: AskerOptions): Promise<AskerOptions> {
  const { servers } = await namedServers([wanted], access);
  const endpoints = servers[0]?.endpoints ?? [];
  const endpoint = endpoints.find(({ kind }) => kind === 'straddle') ?? endpoints[0];
  if (!endpoint) throw new Error(`No source has the address of ${wanted}; give it with --server=host:port.`);
  return { ...access, url: `https://${endpoint.address}`, serverName: undefined };
}

function connectionTo(target: AskerOptions): HttpsConnection {
  return new HttpsConnection({
    url: target.url,
    tls: serverTls(target),
    socketsMax: SOCKETS_MAX,
    timeoutMs: TIMEOUT_MS,
    bytesMax: STATE_BYTES_MAX,
  });
}

/** Returns the name of the server whose page it is. Rejects with what to do where there is no page for this user. */
async function serverBehind(connection: HttpsConnection, credentials: Record<string, string>): Promise<string> {
  const headers = { accept: 'application/json', ...credentials };
  let reply: HttpsReply;
  try {
    reply = await connection.request({ method: 'GET', target: STATE_PATH, headers });
  } catch (error) {
    throw new Error(`${connection.url} does not answer: ${noAnswer(error as Error, TIMEOUT_MS).message}.`);
  }
  const body = parsedObject(reply.text);
  const server = member(objectOrEmpty(body), 'server');
  if (reply.status === 200 && member(body, 'kind') === 'StraddleState' && typeof server === 'string') return server;
  throw new Error(refusalOf(connection.url, reply.status, String(member(body, 'message') ?? '')));
}

function refusalOf(url: string, status: number, message: string): string {
  const said = printableLine(message.slice(0, MESSAGE_CHARS_MAX));
  // A kube-apiserver refuses paths that it does not have to users who may not get all of them.
  if (status === 404 || (status === 403 && said.includes('cannot get path')) || status === 200) {
    return `${url} has no page: there is no Straddle, or an older one. Name a server with a Straddle with --server; \`straddle status\` lists them.`;
  }
  if (status === 403) {
    return `This user may not see the page of ${url}: it needs the right to get the non-resource URL /metrics (\`kubectl create clusterrole page --verb=get --non-resource-url=/metrics\`, and a binding). ${said}`;
  }
  if (status === 401) return `${url} does not know this user (401): check the credentials in the kubeconfig.`;
  return `${url} answers ${status}: ${said}`;
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('Give a port from 0 to 65535.');
  return value;
}
