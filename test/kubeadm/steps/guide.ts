import { readFileSync } from 'node:fs';

const GUIDE = new URL('../../../docs/guide/kubeadm.md', import.meta.url);
const SECTION = /^## Commands, in order$([\s\S]*?)^## /m;
/** Programs whose commands must be run here, unless they are listed below. */
const PROGRAMS = /^(straddle|kubectl|kubeadm|curl) /;

const NOT_RUN: readonly { readonly command: string; readonly why: string }[] = [
  {
    command: 'kubeadm upgrade apply v1.37.1 --patches=/etc/kubernetes/patches',
    why: 'before anything else it runs a Job, for which nodes need a container runtime; `upgrade node` follows on each node',
  },
];

/** The commands of docs/guide/kubeadm.md: the test runs what stands there, word for word. */
export class Guide {
  readonly #text = spaced(readFileSync(GUIDE, 'utf8'));
  readonly #taken = new Set<string>();

  /** Returns a command of the guide. Throws if it is not there any more. */
  command(command: string): string {
    if (!this.#text.includes(spaced(command))) {
      throw new Error(
        `docs/guide/kubeadm.md has no command "${command}" any more: the test must run what stands there`,
      );
    }
    this.#taken.add(spaced(command));
    return command;
  }

  /** Commands of the guide that nothing has run. */
  left(): string[] {
    return commandsOf(readFileSync(GUIDE, 'utf8')).filter(
      (each) => !this.#taken.has(each) && !NOT_RUN.some(({ command }) => command === each),
    );
  }
}

/** The commands of the section, each on one line. Throws where there is none. */
export function commandsOf(markdown: string): string[] {
  const section = SECTION.exec(markdown)?.[1] ?? '';
  const blocks = section.replace(/\\\n/g, ' ').split('\n');
  const commands = blocks
    .filter((line) => /^ {7}/.test(line))
    .map(spaced)
    .filter((line) => PROGRAMS.test(line));
  if (commands.length === 0) throw new Error('docs/guide/kubeadm.md has no section "Commands, in order" with commands');
  return commands;
}

function spaced(text: string): string {
  return text.replace(/\\\n/g, ' ').replace(/\s+/g, ' ').trim();
}
