import type { StatusDetails } from '../../kube/status.js';
import type { FieldSet } from './field-set.js';
import { compare, type Manager, managerKey } from './managed-fields.js';
import { formatPath } from './path-element.js';

export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

/** An apply would change fields of other managers: answered as Conflict (409) with these causes. */
export class ApplyConflictError extends Error {
  readonly details: StatusDetails;

  constructor(conflicts: readonly Conflict[]) {
    const sorted = [...conflicts].sort((left, right) => compare(managerKey(left.manager), managerKey(right.manager)));
    const all = sorted.map(({ manager, fields }) => ({
      who: describe(manager),
      paths: fields.paths().map(formatPath),
    }));
    super(messageOf(all));
    this.name = 'ApplyConflictError';
    this.details = {
      causes: all.flatMap(({ who, paths }) =>
        paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
      ),
    };
  }
}

function messageOf(all: readonly { who: string; paths: readonly string[] }[]): string {
  const count = all.reduce((sum, { paths }) => sum + paths.length, 0);
  if (count === 1) return `Apply failed with 1 conflict: conflict with ${all[0]!.who}: ${all[0]!.paths[0]}`;
  const lines = all.flatMap(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)]);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}

function describe({ name, operation, apiVersion, subresource }: Manager): string {
  const who = JSON.stringify(name) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  // The version is part of the identity of an updater only.
  return operation === 'Apply' ? who : `${who} using ${apiVersion}`;
}
