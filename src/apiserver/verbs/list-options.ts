import { StatusError } from '../../kube/status-error.js';
import type { FieldProblem } from '../schema/validate.js';
import { invalidOptions, isTrue } from './options.js';
import { parseResourceVersion } from './resource-version.js';

/** The parameters of a list or watch, checked and told apart by what they mean. */
export interface ListOptions {
  /** 0 for no limit. */
  readonly limit: number;
  readonly continueToken: string;
  /** Exactly the state at this revision. */
  readonly exactRevision: number | undefined;
  /** Any state that is not older than this; 0 for any at all. Undefined with no `exactRevision`: the newest. */
  readonly minimumRevision: number | undefined;
  readonly resourceVersionGiven: boolean;
  /** Watches only. */
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
  /** 0 where the client did not say. */
  readonly timeoutSeconds: number;
}

/** Throws what kube-apiserver says of parameters that contradict each other. */
export function listOptions(query: URLSearchParams): ListOptions {
  const match = query.get('resourceVersionMatch') ?? '';
  const continueToken = query.get('continue') ?? '';
  const isWatch = query.has('watch') && isTrue(query.get('watch'));
  const resourceVersion = parseResourceVersion(query.get('resourceVersion'), { isList: !isWatch });
  const problems = listProblems(query, { match, resourceVersion, continueToken, isWatch });
  if (problems.length > 0) throw invalidOptions('ListOptions', problems);
  const limit = wholeNumber(query, 'limit');
  const isExact =
    !isWatch &&
    resourceVersion !== undefined &&
    resourceVersion > 0 &&
    (match === 'Exact' || (match === '' && limit > 0));
  return {
    limit,
    continueToken,
    exactRevision: isExact ? resourceVersion : undefined,
    minimumRevision: isExact ? undefined : resourceVersion,
    resourceVersionGiven: resourceVersion !== undefined && resourceVersion > 0,
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: query.has('sendInitialEvents') ? isTrue(query.get('sendInitialEvents')) : undefined,
    timeoutSeconds: wholeNumber(query, 'timeoutSeconds'),
  };
}

interface Given {
  readonly match: string;
  readonly resourceVersion: number | undefined;
  readonly continueToken: string;
  readonly isWatch: boolean;
}

function listProblems(
  query: URLSearchParams,
  { match, resourceVersion, continueToken, isWatch }: Given,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const forbidden = (field: string, why: string): void => {
    problems.push({ reason: 'FieldValueForbidden', field, message: `Forbidden: ${why}` });
  };
  const sendsInitial = query.has('sendInitialEvents');
  if (isWatch && continueToken !== '' && (match !== '' || (!sendsInitial && (resourceVersion ?? 0) === 0))) {
    // A watch from nowhere in particular is one that sends what is there first, and that wants a match.
    forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided');
  }
  if (match !== '') {
    if (isWatch && !sendsInitial)
      forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      );
    if (!isWatch && resourceVersion === undefined)
      forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (!isWatch && continueToken !== '')
      forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan"`;
      problems.push({ reason: 'FieldValueNotSupported', field: 'resourceVersionMatch', message });
    }
    if (match === 'Exact' && resourceVersion === 0) {
      forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (sendsInitial) {
    if (!isWatch) forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list');
    else if (match !== 'NotOlderThan') {
      forbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    }
  }
  return problems;
}

function wholeNumber(query: URLSearchParams, name: string): number {
  const text = query.get(name);
  if (text === null) return 0;
  const value = Number(text);
  if (!/^-?\d{1,19}$/.test(text)) {
    throw new StatusError('BadRequest', `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Math.max(0, value);
}
