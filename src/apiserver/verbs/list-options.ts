import { StatusError } from '../../kube/status-error.js';
import { type FieldProblem, forbidden, notSupported } from '../schema/field-problems.js';
import { isTrue, refuseOptions } from './options.js';
import { parseResourceVersion } from './resource-version.js';

/** The parameters of a list or watch, checked. */
export interface ListOptions {
  /** 0 for no limit. */
  readonly limit: number;
  readonly continueToken: string;
  /** The revision of the state to read. */
  readonly exactRevision: number | undefined;
  /** Lower bound on that revision; 0 for any. If neither is given, the newest state is read. */
  readonly minimumRevision: number | undefined;
  readonly resourceVersionGiven: boolean;
  /** Watches only. */
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
  /** 0 if not given. */
  readonly timeoutSeconds: number;
}

/** Throws Invalid with the messages of kube-apiserver for parameters that contradict each other. */
export function listOptions(query: URLSearchParams): ListOptions {
  const match = query.get('resourceVersionMatch') ?? '';
  const continueToken = query.get('continue') ?? '';
  const isWatch = query.has('watch') && isTrue(query.get('watch'));
  const resourceVersion = parseResourceVersion(query.get('resourceVersion'), { isList: !isWatch });
  refuseOptions('ListOptions', listProblems(query, { match, resourceVersion, continueToken, isWatch }));
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
  const field = 'resourceVersionMatch';
  const forbid = (why: string): void => void problems.push(forbidden(field, why));
  const sendsInitial = query.has('sendInitialEvents');
  if (isWatch && continueToken !== '' && (match !== '' || (!sendsInitial && (resourceVersion ?? 0) === 0))) {
    // A watch without a start sends the initial state first, for which a match is implied.
    forbid('resourceVersionMatch is forbidden when continue is provided');
  }
  if (match !== '') {
    if (isWatch && !sendsInitial) {
      forbid('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    }
    if (!isWatch && resourceVersion === undefined) {
      forbid('resourceVersionMatch is forbidden unless resourceVersion is provided');
    }
    if (!isWatch && continueToken !== '') forbid('resourceVersionMatch is forbidden when continue is provided');
    const known = ['Exact', 'NotOlderThan'];
    if (!known.includes(match)) problems.push(notSupported(field, match, known));
    if (match === 'Exact' && resourceVersion === 0) {
      forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (sendsInitial) {
    if (!isWatch) problems.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
    else if (match !== 'NotOlderThan') {
      forbid('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
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
