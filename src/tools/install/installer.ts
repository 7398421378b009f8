import { dirname } from 'node:path';
import { formatHostPort, type HostPort } from '../../base/address.js';
import { ConfigError } from '../../compose/config/config-error.js';
import { API_SERVER } from './api-server-manifest.js';
import type { HostFiles } from './host-files.js';
import { beginJournal, type Change, completeJournal, endJournal, type Journal, readJournal } from './journal.js';
import type { InstallPlan } from './plan.js';
import { answerText, type ServerAnswer } from './server-probe.js';
import { type Sidecar, STATE_DIR } from './sidecar.js';
import { STRADDLE_POD } from './straddle-pod.js';
import { checkUndo, type Undo, undoOf } from './undo.js';

const SECOND_MS = 1_000;
const STOPPED = 'Stopped by a signal.';
/** Bound on the end of a Straddle: --shutdown-grace, and what the kubelet needs. */
const STOP_MS_MAX = 60_000;

/** What an installation needs from outside; tests replace it. */
export interface Surroundings {
  readonly files: HostFiles;
  readonly ask: (address: HostPort, target: string) => Promise<ServerAnswer>;
  /** As `ask`, with the authority that is in the files by now. */
  readonly askAnew: (address: HostPort, target: string) => Promise<ServerAnswer>;
  readonly say: (line: string) => void;
  readonly delay: (ms: number) => Promise<void>;
  readonly nowMs: () => number;
  /** Bound on each wait for readiness. */
  readonly timeoutMs: number;
  /** Where clients reached the control plane before, and must reach it afterwards. */
  readonly endpoint?: HostPort | undefined;
  /** Aborted when the operator wants to stop. */
  readonly signal: AbortSignal;
}

/** Both addresses of a control-plane node. */
export interface Addresses {
  readonly node: HostPort;
  readonly loopback: HostPort;
}

/**
 * Writes the files of a plan and waits after each manifest until its server is ready. Rejects when that does not happen
 * in time, or at a stop signal, after it has put back all files.
 */
export async function install({ changes, manifest, sidecar }: InstallPlan, around: Surroundings): Promise<void> {
  const { files } = around;
  const folders = [...new Set(changes.map(({ path }) => dirname(path))), ...(sidecar.runAs ? [STATE_DIR] : [])];
  for (const folder of folders) files.checkWritable(folder);
  for (const { path, before } of changes) {
    if (files.read(path) !== before)
      throw new ConfigError([`${path} was changed by somebody else meanwhile; try again.`]);
  }
  const journal = beginJournal(files, changes, folders);
  try {
    if (sidecar.runAs) files.giveFolder(STATE_DIR, sidecar.runAs.user, sidecar.runAs.group);
    for (const change of changes) {
      if (around.signal.aborted) throw new Error(STOPPED);
      files.replace(change.path, change.after);
      around.say(`wrote ${change.path}`);
      await afterWriting(change, { manifest, sidecar }, around);
    }
    if (around.endpoint) await untilReachable(around.endpoint, around);
    completeJournal(files, journal);
  } catch (error) {
    throw await rolledBack(journal, manifest, around, error as Error);
  }
}

async function rolledBack(journal: Journal, addresses: Addresses, around: Surroundings, cause: Error): Promise<Error> {
  around.say(`rolling back: ${cause.message}`);
  // A stop signal ends the installation, not the way back.
  const undisturbed = { ...around, signal: new AbortController().signal };
  let undone: readonly Undo[];
  try {
    undone = await restore(journal, addresses, undisturbed);
  } catch (error) {
    const next = 'Mend that, then run straddle uninstall.';
    return new Error(`${cause.message} The rollback stopped: ${(error as Error).message} ${next}`, { cause: error });
  }
  const failure = await untilBack(addresses, undisturbed).catch((error: Error) => error);
  const after = failure ? ` The kube-apiserver is not back yet: ${failure.message}` : '';
  const others = undone.filter(({ kind }) => kind === 'changed back' || kind === 'left');
  const except = others.length === 0 ? '' : ` but ${others.map(({ path }) => path).join(', ')}`;
  return new Error(`The installation was rolled back, all files${except} are as before: ${cause.message}${after}`, {
    cause,
  });
}

/** The order avoids that two servers want one address: the kube-apiserver must have left it before Straddle starts. */
async function afterWriting(
  { path }: Change,
  { manifest: { node, loopback }, sidecar }: Pick<InstallPlan, 'manifest' | 'sidecar'>,
  around: Surroundings,
): Promise<void> {
  if (path.endsWith(`/${API_SERVER}.yaml`)) {
    await until(`the kube-apiserver at ${formatHostPort(loopback)}`, around, async () => {
      const [here, there] = await Promise.all([around.ask(loopback, '/readyz'), around.ask(node, '/readyz')]);
      const hasMoved = there.kind === 'refused';
      return [
        hasMoved && isReady(here, false),
        `${answerText(here)}${hasMoved ? '' : `, and still listens at ${formatHostPort(node)}`}`,
      ];
    });
  } else if (path.endsWith(`/${STRADDLE_POD}`)) {
    await until(`Straddle at ${formatHostPort(node)}`, around, async () => {
      const [here, there] = await Promise.all([around.ask(loopback, '/readyz'), around.ask(node, '/readyz')]);
      const text = `${answerText(there)}; ${formatHostPort(loopback)}: ${answerText(here)}`;
      return [isReady(there, true) && isReady(here, false), text];
    }).catch(async (error: Error) => {
      throw await withCause(error, loopback, sidecar, around);
    });
  }
}

/** Straddle reads the authority when it starts, after it was checked: another file by then is why it trusts no kube-apiserver. */
async function withCause(error: Error, loopback: HostPort, sidecar: Sidecar, around: Surroundings): Promise<Error> {
  const [before, now] = await Promise.all([around.ask(loopback, '/readyz'), around.askAnew(loopback, '/readyz')]);
  if (before.kind !== 'answer' || now.kind !== 'failure') return error;
  const file = sidecar.flags.find(([flag]) => flag === 'peer-ca-file')?.[1];
  const cause = `Straddle cannot verify the kube-apiserver at ${formatHostPort(loopback)} with ${file} as it is now: ${now.why}.`;
  return new Error(`${error.message} ${cause}`, { cause: error });
}

/**
 * Restores the files of a journal, from its end, if all of them can be restored. `addresses` are undefined where the manifest
 * cannot be read any more.
 */
export async function restore(
  journal: Journal,
  addresses: Addresses | undefined,
  around: Surroundings,
): Promise<readonly Undo[]> {
  checkUndo(around.files, journal);
  const undone: Undo[] = [];
  for (const entry of journal.entries.toReversed()) {
    const undo = undoOf(around.files, entry, journal.state);
    undo.apply();
    undone.push(undo);
    around.say(undo.text);
    if (undo.kind === 'removed' && addresses) await afterRemoving(undo, addresses, around);
  }
  finish(around.files, journal, undone);
  return undone;
}

/** Does what `restore` does, at once and without a wait, for an operator who does not wait; from any point of it too. */
export function restoreNow(files: HostFiles, say: (line: string) => void): void {
  const journal = readJournal(files);
  if (!journal) return;
  checkUndo(files, journal);
  const undone = journal.entries.toReversed().map((entry) => undoOf(files, entry, journal.state));
  for (const { apply, text } of undone) {
    apply();
    say(text);
  }
  finish(files, journal, undone);
}

function finish(files: HostFiles, journal: Journal, undone: readonly Undo[]): void {
  endJournal(
    files,
    journal,
    undone.flatMap(({ keptBackup }) => keptBackup ?? []),
  );
}

/** Resolves when the kube-apiserver is ready at the address of the node. */
export function untilBack({ node }: Addresses, around: Surroundings): Promise<void> {
  return until(`the kube-apiserver at ${formatHostPort(node)}`, around, async () => {
    const answer = await around.ask(node, '/readyz');
    return [isReady(answer, false), answerText(answer)];
  });
}

/** A virtual address of this machine at which nobody listens any more is found out here at the latest. */
function untilReachable(endpoint: HostPort, around: Surroundings): Promise<void> {
  return until(`the control-plane endpoint ${formatHostPort(endpoint)}`, around, async () => {
    const answer = await around.ask(endpoint, '/readyz');
    return [answer.kind === 'answer' && answer.status === 200, answerText(answer)];
  });
}

/** A kube-apiserver that starts while Straddle still listens could not have the address. */
async function afterRemoving({ path }: Undo, { node }: Addresses, around: Surroundings): Promise<void> {
  if (!path.endsWith(`/${STRADDLE_POD}`)) return;
  const isGone = async (): Promise<[boolean, string]> => {
    const answer = await around.ask(node, '/readyz');
    const hasOther = answer.kind === 'answer' && !answer.isStraddle;
    return [answer.kind === 'refused' || hasOther, answerText(answer)];
  };
  const timeoutMs = Math.min(STOP_MS_MAX, around.timeoutMs);
  // Files must be restored whether or not Straddle ends in time; the kubelet starts the kube-apiserver again.
  await until(`the end of Straddle at ${formatHostPort(node)}`, { ...around, timeoutMs }, isGone).catch(
    (error: Error) => around.say(error.message),
  );
}

function isReady(answer: ServerAnswer, isStraddle: boolean): boolean {
  return answer.kind === 'answer' && answer.status === 200 && answer.isStraddle === isStraddle;
}

/** Asks once a second and reports each answer. Rejects at the bound, and at a stop signal. */
async function until(what: string, around: Surroundings, ask: () => Promise<[boolean, string]>): Promise<void> {
  const { nowMs, delay, say, signal, timeoutMs } = around;
  const startMs = nowMs();
  for (;;) {
    const [done, text] = await ask();
    const seconds = Math.round((nowMs() - startMs) / SECOND_MS);
    say(`  ${String(seconds).padStart(3)}s  ${what}: ${text}`);
    if (done) return;
    if (signal.aborted) throw new Error(STOPPED);
    if (nowMs() - startMs >= timeoutMs)
      throw new Error(`${what} was not ready within ${timeoutMs / SECOND_MS} s: ${text}.`);
    await delay(SECOND_MS);
  }
}
