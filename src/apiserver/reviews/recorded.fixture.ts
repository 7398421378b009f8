import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../kube/json.js';
import { defaultRbacObjects } from '../authorization/default-roles.js';
import { StoredObjects } from '../authorization/stored-objects.fixture.js';
import type { User } from '../contracts/user.js';

export interface RecordedCase {
  readonly name: string;
  readonly requester?: string;
  readonly headers?: readonly string[];
  readonly method: string;
  readonly path: string;
  readonly body?: JsonObject;
  /** What kube-apiserver answered. */
  readonly status: number;
  readonly answer: JsonObject;
}

interface Recorded {
  readonly world: readonly JsonObject[];
  readonly reviews: readonly RecordedCase[];
  readonly writes: readonly RecordedCase[];
  readonly impersonation: readonly RecordedCase[];
  readonly openId: readonly JsonObject[];
}

export const recorded = JSON.parse(
  readFileSync(new URL('./access.recorded.json', import.meta.url), 'utf8'),
) as Recorded;

/** The recording is of a kube-apiserver 1.36. */
const RECORDED_MINOR = 36;

/** What was stored when it was recorded. */
export function recordedWorld(): StoredObjects {
  return new StoredObjects([...defaultRbacObjects(RECORDED_MINOR), ...recorded.world]);
}

export function user(name: string, ...groups: string[]): User {
  return { name, uid: '', groups, extra: new Map() };
}

/** The token file of the recording. */
export const TOKEN_FILE = [
  'alice-token,alice,alice-uid,"dev,team a"',
  'carol-token,carol,,',
  '"quoted ""token""",dave,dave-uid',
  '',
].join('\n');
