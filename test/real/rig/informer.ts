import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { binaryPath, type InformerVersion, informerName } from './binaries.js';
import { eventually, GiveUp } from './eventually.js';
import { MODULES_DIR } from './pinned-versions.js';
import { RigProcess } from './process.js';

/** The release of client-go that this informer is built with: `0.35.8`. */
export function clientGoVersion(version: InformerVersion): string {
  const text = readFileSync(join(MODULES_DIR, 'informer', `client-go-${version}.mod`), 'utf8');
  const release = /^\s*k8s\.io\/client-go v(\S+)/m.exec(text)?.[1];
  if (release === undefined) throw new Error(`client-go-${version}.mod does not pin k8s.io/client-go`);
  return release;
}

export const JSON_TYPE = 'application/json';
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

export interface InformerOptions {
  readonly dir: string;
  readonly kubeconfig: string;
  readonly context: string;
  readonly namespace: string;
  /** Of client-go. */
  readonly version: InformerVersion;
  readonly contentType: typeof JSON_TYPE | typeof PROTOBUF_TYPE;
  readonly http1?: boolean;
  /** Its watches are such that Straddle does not continue them: a parameter twice, of which servers read the first. */
  readonly uncontinued?: boolean;
}

/** A line of the program, see modules/informer/main.go. */
export interface InformerLine {
  readonly kind: 'request' | 'answer' | 'watch-event' | 'change' | 'synced' | 'error' | 'end';
  readonly verb?: 'list' | 'watch';
  readonly query?: string;
  readonly protocol?: string;
  readonly status?: number;
  readonly contentType?: string;
  readonly compressed?: boolean;
  readonly type?: string;
  readonly name?: string;
  readonly resourceVersion?: string;
  readonly initialEventsEnd?: boolean;
  readonly message?: string;
}

const SYNC_TIMEOUT_MS = 30_000;

/** A shared informer of Jobs, of client-go, as its own process. */
export class Informer {
  /** Also its user agent, and so its name in the audit logs of servers. */
  readonly name: string;
  readonly process: RigProcess;

  constructor(readonly options: InformerOptions) {
    const { dir, kubeconfig, context, namespace, version, contentType, http1 = false, uncontinued = false } = options;
    const encoding = contentType === JSON_TYPE ? 'json' : 'protobuf';
    this.name = `informer-client-go-${version}-${encoding}${http1 ? '-http1' : ''}${uncontinued ? '-uncontinued' : ''}-in-${namespace}`;
    this.process = new RigProcess({
      name: this.name,
      command: binaryPath(informerName(version)),
      args: [
        `--kubeconfig=${kubeconfig}`,
        `--context=${context}`,
        `--namespace=${namespace}`,
        `--content-type=${contentType}`,
        `--user-agent=${this.name}`,
        `--http1=${http1}`,
        ...(uncontinued ? ['--watch-parameters=timeoutSeconds=600'] : []),
        // The end of a watch with an unexpected EOF is logged at 1, one that begins anew with a list at 2.
        '-v=2',
      ],
      logFile: join(dir, `${this.name}.log`),
    });
  }

  async synced(): Promise<void> {
    await eventually(
      `${this.name} has the initial state (log: ${this.process.options.logFile})`,
      () => {
        if (!this.process.running) throw new GiveUp(`it ended:\n${this.process.logTail()}`);
        return this.lines().some(({ kind }) => kind === 'synced');
      },
      { timeoutMs: SYNC_TIMEOUT_MS },
    );
  }

  lines(): InformerLine[] {
    return this.#text().flatMap((text) => (text.startsWith('{') ? (JSON.parse(text) as InformerLine) : []));
  }

  of(kind: InformerLine['kind']): InformerLine[] {
    return this.lines().filter((line) => line.kind === kind);
  }

  /** What client-go itself wrote to the log. */
  logLines(): string[] {
    return this.#text().filter((text) => text !== '' && !text.startsWith('{'));
  }

  #text(): string[] {
    const lines = this.process.log().split('\n');
    // The last one may not be complete yet.
    lines.pop();
    return lines;
  }
}
