import { StatusError } from '../../kube/status-error.js';
import { type FieldProblem, formatProblems } from '../schema/validate.js';
import type { ResourceType } from './resource-type.js';
import { qualifiedKind } from './storage-failure.js';

/** Throws Invalid if there are problems. */
export function refuseInvalid(
  type: Pick<ResourceType, 'group' | 'kind'>,
  name: string,
  problems: readonly FieldProblem[],
): void {
  if (problems.length === 0) return;
  throw new StatusError(
    'Invalid',
    `${qualifiedKind(type)} ${JSON.stringify(name)} is invalid: ${formatProblems(problems)}`,
    {
      ...(name === '' ? {} : { name }),
      ...(type.group === '' ? {} : { group: type.group }),
      kind: type.kind,
      causes: problems,
    },
  );
}
